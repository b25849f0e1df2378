CREATE TABLE machines (
    machine    text PRIMARY KEY,
    phase      text NOT NULL,
    facts      jsonb,
    epoch      bigint NOT NULL DEFAULT 0,
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.updated_at := now();
    RETURN NEW;
END $$;
CREATE TRIGGER machines_touch BEFORE UPDATE ON machines FOR EACH ROW EXECUTE FUNCTION touch();
