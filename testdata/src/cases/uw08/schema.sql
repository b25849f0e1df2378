CREATE TABLE node_state (
    node  varchar(64) NOT NULL PRIMARY KEY,
    state varchar(16) NOT NULL,
    load1 int NOT NULL DEFAULT 0,
    fence bigint NOT NULL DEFAULT 0
) ENGINE=InnoDB;
CREATE TABLE drain_request (
    node varchar(64) NOT NULL PRIMARY KEY,
    done tinyint NOT NULL DEFAULT 0
) ENGINE=InnoDB;
