CREATE TABLE disk_image (
    id    bigint PRIMARY KEY,
    state text NOT NULL,
    bytes bigint NOT NULL DEFAULT 0,
    fence bigint NOT NULL DEFAULT 0
);
