CREATE TABLE clusters (
    cluster     text PRIMARY KEY,
    wanted_size integer NOT NULL,
    size        integer NOT NULL DEFAULT 0,
    label       text NOT NULL DEFAULT '',
    state       text NOT NULL,
    fence       bigint NOT NULL DEFAULT 0
);
