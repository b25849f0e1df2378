CREATE TABLE orders (
    id      bigserial PRIMARY KEY,
    region  text NOT NULL,
    address text NOT NULL,
    status  text NOT NULL,
    parcel  text,
    note    text,
    fence   bigint NOT NULL DEFAULT 0
);
