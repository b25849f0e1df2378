CREATE TABLE invoices_due (
    id       bigint PRIMARY KEY,
    customer bigint NOT NULL,
    total    numeric(12, 2) NOT NULL DEFAULT 0,
    state    text NOT NULL DEFAULT 'open',
    sealed   timestamptz,
    fence    bigint NOT NULL DEFAULT 0
);
