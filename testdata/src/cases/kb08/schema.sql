CREATE TABLE scheduler_leader (name text PRIMARY KEY, leader_id text NOT NULL, expires_at timestamptz NOT NULL);
