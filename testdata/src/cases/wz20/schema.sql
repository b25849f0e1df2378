CREATE TABLE rate_runs (
    id       BIGINT NOT NULL PRIMARY KEY,
    month    DATE NOT NULL,
    factor   DECIMAL(8, 4) NOT NULL DEFAULT 1,
    finished TINYINT(1) NOT NULL DEFAULT 0
);
CREATE TABLE rate_lines (
    id        BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    run_id    BIGINT NOT NULL,
    quantity  INT NOT NULL,
    cents     BIGINT NOT NULL DEFAULT 0,
    run_token BIGINT NOT NULL DEFAULT 0,
    KEY (run_id)
);
