CREATE TABLE push_msg (
    id        bigserial PRIMARY KEY,
    topic     text NOT NULL,
    body      bytea NOT NULL,
    dedupe    text UNIQUE,
    done_at   timestamptz,
    delivery  integer NOT NULL DEFAULT 0, -- fence:token rule=equal
    hidden_to timestamptz NOT NULL DEFAULT '-infinity'
);
