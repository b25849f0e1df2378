CREATE TABLE crawl_targets (
    id         bigint PRIMARY KEY,
    host       text NOT NULL,
    etag       text,
    depth      integer NOT NULL DEFAULT 0,
    blocked    boolean NOT NULL DEFAULT false,
    term       bigint NOT NULL DEFAULT 0
);
