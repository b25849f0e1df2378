CREATE TABLE load_checkpoints (loader text PRIMARY KEY, fence bigint NOT NULL, cursor text NOT NULL);
CREATE TABLE documents (id text PRIMARY KEY, doc bytea NOT NULL);
