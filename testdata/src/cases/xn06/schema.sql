CREATE TABLE tablet (
    alias   varchar(64) NOT NULL PRIMARY KEY,
    role    varchar(16) NOT NULL,
    lag_ms  int NOT NULL DEFAULT 0,
    fence   bigint NOT NULL DEFAULT 0
) ENGINE=InnoDB;
