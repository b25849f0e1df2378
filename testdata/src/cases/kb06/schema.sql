CREATE TABLE controllers (name text PRIMARY KEY, heartbeat timestamptz NOT NULL);
CREATE TABLE semaphore_holders (semaphore text NOT NULL, holder text NOT NULL, controller text NOT NULL REFERENCES controllers (name), PRIMARY KEY (semaphore, holder));
