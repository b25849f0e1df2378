CREATE TABLE shipment (
    id      bigserial PRIMARY KEY,
    carrier text,
    route   text,
    address text NOT NULL,
    note    text NOT NULL DEFAULT '',
    fence   bigint NOT NULL DEFAULT 0
);
