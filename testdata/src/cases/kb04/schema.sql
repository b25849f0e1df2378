CREATE TABLE connectors (id bigserial PRIMARY KEY, cursor text NOT NULL, sync_owner text, sync_lease_until timestamptz, secret_expiry timestamptz);
