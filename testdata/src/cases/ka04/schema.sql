CREATE TABLE usage_events (account_id text NOT NULL, month date NOT NULL, cents bigint NOT NULL);
CREATE TABLE invoices (account_id text NOT NULL, month date NOT NULL, total_cents bigint NOT NULL DEFAULT 0, closed_at timestamptz, PRIMARY KEY (account_id, month));
