CREATE TABLE sensor_shard (
    shard    integer PRIMARY KEY,
    epoch    bigint NOT NULL,
    position bigint NOT NULL DEFAULT 0
);
CREATE TABLE sensor_window (
    shard  integer NOT NULL,
    start  timestamptz NOT NULL,
    mean   double precision NOT NULL,
    PRIMARY KEY (shard, start)
);
