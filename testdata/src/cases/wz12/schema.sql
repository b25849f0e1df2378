CREATE TABLE price_quotes (
    symbol     text PRIMARY KEY,
    bid        bigint NOT NULL,
    ask        bigint NOT NULL,
    feed_epoch bigint NOT NULL DEFAULT 0
);
