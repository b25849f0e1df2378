CREATE TABLE balances (
    wallet text PRIMARY KEY,
    cents  bigint NOT NULL,
    closed boolean NOT NULL DEFAULT false,
    note   text,
    fence  bigint NOT NULL DEFAULT 0
);
