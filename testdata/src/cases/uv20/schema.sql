CREATE TABLE tariffs (
    sku   text PRIMARY KEY,
    cents bigint NOT NULL,
    fence bigint NOT NULL DEFAULT 0
);
