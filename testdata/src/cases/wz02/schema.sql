CREATE TABLE print_jobs (
    id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    queue      VARCHAR(64) NOT NULL,
    status     ENUM('ready', 'printing', 'printed', 'jammed') NOT NULL DEFAULT 'ready',
    pages      INT NOT NULL DEFAULT 0,
    reason     TEXT,
    attempt_no INT NOT NULL DEFAULT 0,
    KEY (queue, status)
) ENGINE=InnoDB;
