CREATE TABLE offers (sku text PRIMARY KEY, price_cents bigint NOT NULL, repriced_at timestamptz);
