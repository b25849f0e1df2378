CREATE TABLE price (
    sku         text NOT NULL,
    shop_id     bigint NOT NULL,
    base_cents  bigint NOT NULL,
    local_cents bigint,
    currency    text,
    PRIMARY KEY (sku, shop_id)
);
