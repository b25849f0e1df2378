CREATE TABLE sync_cursor (
    connection_id varchar(64) PRIMARY KEY,
    cur           text NOT NULL
);
