CREATE SCHEMA warehouse;
CREATE TABLE warehouse.stock_levels (
    sku      text PRIMARY KEY,
    qty      integer NOT NULL DEFAULT 0,
    reserved integer NOT NULL DEFAULT 0,
    fence    bigint NOT NULL DEFAULT 0
);
