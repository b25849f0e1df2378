CREATE TABLE job_lock (id bigserial PRIMARY KEY, name text NOT NULL UNIQUE, version bigint NOT NULL, last_execution bigint NOT NULL);
