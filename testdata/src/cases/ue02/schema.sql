CREATE TABLE invoice (
    id         bigserial PRIMARY KEY,
    account    bigint NOT NULL,
    cents      bigint NOT NULL,
    fee_cents  bigint,
    state      text NOT NULL,
    settled_at timestamptz
);
