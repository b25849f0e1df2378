CREATE TABLE named_locks (name varchar(64) PRIMARY KEY, owner varchar(128) NOT NULL, expires_at datetime(6) NOT NULL);
