CREATE TABLE invoices (
    id      bigserial PRIMARY KEY,
    state   text NOT NULL,
    total   bigint NOT NULL DEFAULT 0,
    memo    text NOT NULL DEFAULT '',
    version bigint NOT NULL DEFAULT 1
);
