CREATE TABLE app_lock (
    name     varchar(64) PRIMARY KEY,
    holder   varchar(64) NULL,
    until_at datetime(6) NOT NULL
);
