CREATE TABLE engine_epochs (
    volume text PRIMARY KEY,
    epoch  bigint NOT NULL
);
CREATE TABLE volume_extents (
    volume text NOT NULL,
    off    bigint NOT NULL,
    len    bigint NOT NULL,
    object text NOT NULL,
    PRIMARY KEY (volume, off)
);
