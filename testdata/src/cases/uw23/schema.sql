CREATE TABLE vm_instance (
    id          uuid PRIMARY KEY,
    host        text,
    state       text NOT NULL,
    updated_at  timestamptz NOT NULL DEFAULT now(),
    fence_token bigint NOT NULL DEFAULT 0
);
CREATE FUNCTION touch_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.updated_at := now();
    RETURN NEW;
END $$;
CREATE TRIGGER vm_instance_touch BEFORE UPDATE ON vm_instance FOR EACH ROW EXECUTE FUNCTION touch_row();
