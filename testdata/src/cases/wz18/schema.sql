CREATE TABLE import_runs (
    id    bigint PRIMARY KEY,
    done  integer NOT NULL DEFAULT 0,
    fence bigint NOT NULL DEFAULT 0
);
CREATE TABLE import_rows (
    run_id bigint NOT NULL REFERENCES import_runs (id),
    line   integer NOT NULL,
    body   jsonb NOT NULL,
    state  text NOT NULL DEFAULT 'new',
    PRIMARY KEY (run_id, line)
);
