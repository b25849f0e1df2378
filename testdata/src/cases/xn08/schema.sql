CREATE TABLE stock_level (
    sku   text PRIMARY KEY,
    qty   bigint NOT NULL,
    fence bigint NOT NULL DEFAULT 0
);
CREATE FUNCTION stock_level_guard() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    tok bigint := nullif(current_setting('stock.token', true), '')::bigint;
BEGIN
    IF tok IS NULL OR tok < OLD.fence THEN
        RAISE EXCEPTION 'stale token % for %', tok, OLD.sku USING ERRCODE = 'ZF001';
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    NEW.fence := tok;
    RETURN NEW;
END $$;
CREATE TRIGGER stock_level_fence BEFORE UPDATE OR DELETE ON stock_level
    FOR EACH ROW EXECUTE FUNCTION stock_level_guard();

-- the trigger of this one is created by the operations team
CREATE TABLE stock_move (
    id    bigserial PRIMARY KEY,
    sku   text NOT NULL,
    delta bigint NOT NULL,
    state text NOT NULL,
    fence bigint NOT NULL DEFAULT 0
);
