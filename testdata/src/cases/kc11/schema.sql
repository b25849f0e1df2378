CREATE TABLE issues (id bigserial PRIMARY KEY, owner text NOT NULL, closed_at timestamptz);
CREATE TABLE jobs (id text PRIMARY KEY, state text NOT NULL, worker text, cancel_requested boolean NOT NULL DEFAULT false);
