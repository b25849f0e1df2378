CREATE TABLE scheduler_job (
    id               int PRIMARY KEY,
    host             varchar(255) NOT NULL,
    latest_heartbeat bigint NOT NULL,
    version          bigint NOT NULL
);
