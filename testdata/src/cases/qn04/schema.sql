CREATE TABLE ports (
    switch  text NOT NULL,
    port    integer NOT NULL,
    vlan    integer,
    enabled boolean NOT NULL DEFAULT false,
    term    bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (switch, port)
);
CREATE FUNCTION ports_check_term() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.term := current_setting('ports.term')::bigint;
    IF NEW.term < OLD.term THEN
        RAISE EXCEPTION 'term is over: % < %', NEW.term, OLD.term;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER ports_term BEFORE UPDATE ON ports FOR EACH ROW EXECUTE FUNCTION ports_check_term();
