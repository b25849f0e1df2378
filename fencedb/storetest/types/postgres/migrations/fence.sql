-- What the generated writers need: written by fence gen, for you to keep.

-- Who waits for a lock on a table keeps everybody behind it waiting: give up, and try again.
SET lock_timeout = '5s';

-- One row for each resource, with the largest token that was raised.
CREATE TABLE IF NOT EXISTS "fence_guards" (
	resource text   NOT NULL PRIMARY KEY,
	token    bigint NOT NULL CHECK (token > 0),
	grant_id text   NOT NULL
);

-- Every write to "watched" carries its token in the setting fence.token, as generated writers
-- do: SELECT set_config('fence.token', '7', true). It holds up to the end of the transaction.
CREATE OR REPLACE FUNCTION "fence_watched_bw"() RETURNS trigger LANGUAGE plpgsql AS $fence$
DECLARE
	token bigint := nullif(current_setting('fence.token', true), '')::bigint;
BEGIN
	IF token IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'ZF002', MESSAGE = 'fence:unfenced:watched',
			DETAIL = 'The write carries no token.', HINT = 'Write through the generated writer.';
	END IF;
	IF TG_OP <> 'INSERT' THEN
		IF token < OLD."fence" THEN
			RAISE EXCEPTION USING ERRCODE = 'ZF001', MESSAGE = 'fence:stale:watched',
				DETAIL = format('The write carries token %s, the row knows %s.', token, OLD."fence");
		END IF;
	END IF;
	IF TG_OP = 'DELETE' THEN
		RETURN OLD;
	END IF;
	NEW."fence" := token;
	RETURN NEW;
END
$fence$;

CREATE TRIGGER "fence_watched_bw" BEFORE INSERT OR UPDATE OR DELETE ON "watched"
FOR EACH ROW EXECUTE FUNCTION "fence_watched_bw"();

-- TRUNCATE sees no rows, so it cannot compare.
CREATE OR REPLACE FUNCTION "fence_watched_bt"() RETURNS trigger LANGUAGE plpgsql AS $fence$
BEGIN
	RAISE EXCEPTION USING ERRCODE = 'ZF002', MESSAGE = 'fence:unfenced:watched',
		DETAIL = 'TRUNCATE compares no token.', HINT = 'Delete the rows.';
END
$fence$;

CREATE TRIGGER "fence_watched_bt" BEFORE TRUNCATE ON "watched"
FOR EACH STATEMENT EXECUTE FUNCTION "fence_watched_bt"();

RESET lock_timeout;
