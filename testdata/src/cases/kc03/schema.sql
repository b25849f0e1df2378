CREATE TABLE node_lease (name text PRIMARY KEY, client_id uuid NOT NULL, expires_at timestamptz NOT NULL);
