CREATE TABLE sync_accounts (
    id            bigint PRIMARY KEY,
    region        text NOT NULL,
    balance_cents bigint NOT NULL DEFAULT 0,
    synced_at     timestamptz,
    closed        boolean NOT NULL DEFAULT false,
    fencing_token bigint NOT NULL DEFAULT 0
);
