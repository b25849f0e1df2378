CREATE TABLE controller_lock (
    name      text PRIMARY KEY,
    held_by   text NOT NULL DEFAULT '',
    held_till timestamptz,
    version   bigint NOT NULL DEFAULT 0 -- fence
);
