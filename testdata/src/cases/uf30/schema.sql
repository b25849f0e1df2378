CREATE TABLE plan_locks (
    name   varchar(190) PRIMARY KEY,
    holder varchar(190),
    beat   datetime(6)
);
