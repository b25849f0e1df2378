CREATE TABLE messages (id bigserial PRIMARY KEY, state text NOT NULL, body bytea NOT NULL, send_at timestamptz NOT NULL, attempt integer NOT NULL DEFAULT 0, locked_by text, locked_at timestamptz);
