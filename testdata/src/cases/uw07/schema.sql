CREATE TABLE invoice_run (
    id      bigserial PRIMARY KEY,
    account bigint NOT NULL,
    month   date NOT NULL,
    state   text NOT NULL DEFAULT 'pending',
    pdf     text,
    note    text
);
