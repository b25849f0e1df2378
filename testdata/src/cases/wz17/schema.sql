CREATE TABLE payout_lock (
    currency CHAR(3) NOT NULL PRIMARY KEY,
    turn     BIGINT NOT NULL DEFAULT 0
) ENGINE=InnoDB;
CREATE TABLE payout_batches (
    id       BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    currency CHAR(3) NOT NULL,
    closed   TINYINT(1) NOT NULL DEFAULT 0
) ENGINE=InnoDB;
CREATE TABLE payout_items (
    batch_id BIGINT NOT NULL,
    account  BIGINT NOT NULL,
    cents    BIGINT NOT NULL,
    PRIMARY KEY (batch_id, account)
) ENGINE=InnoDB;
