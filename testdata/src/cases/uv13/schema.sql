CREATE TABLE frontiers (
    site          text PRIMARY KEY,
    body          bytea,
    pages         bigint NOT NULL DEFAULT 0,
    fence         bigint NOT NULL DEFAULT 0,
    paused_reason text NOT NULL DEFAULT ''
);
