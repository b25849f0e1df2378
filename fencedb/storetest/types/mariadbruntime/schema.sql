CREATE TABLE orders (id bigint unsigned AUTO_INCREMENT PRIMARY KEY, region varchar(64) NOT NULL, state enum('new', 'done') NOT NULL);
CREATE TABLE jobs (id varchar(64) PRIMARY KEY, state enum('new', 'done') NOT NULL DEFAULT 'new', fence bigint unsigned NOT NULL DEFAULT 0);
