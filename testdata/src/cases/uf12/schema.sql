CREATE TABLE change_log_lock (
    id           int PRIMARY KEY,
    locked       boolean NOT NULL,
    locked_by    varchar(255),
    lock_granted datetime
);
