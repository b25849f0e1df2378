CREATE TABLE crawl_host (
    host     text PRIMARY KEY,
    frontier bigint NOT NULL DEFAULT 0,
    robots   text,
    backoff  integer NOT NULL DEFAULT 0,
    fence    bigint NOT NULL DEFAULT 0
);
