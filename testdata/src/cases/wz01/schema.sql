CREATE TABLE stream_shards (
    id         text PRIMARY KEY,
    cursor_pos bigint NOT NULL DEFAULT 0,
    endpoint   text NOT NULL DEFAULT '',
    draining   boolean NOT NULL DEFAULT false,
    fence      bigint NOT NULL DEFAULT 0
);
