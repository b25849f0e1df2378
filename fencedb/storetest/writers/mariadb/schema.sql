CREATE TABLE docs (id varchar(64) PRIMARY KEY, body text, n bigint NOT NULL, fence bigint NOT NULL DEFAULT 0);
CREATE TABLE tasks (id varchar(64) PRIMARY KEY, state varchar(64) NOT NULL, attempt bigint NOT NULL);
CREATE TABLE claims (id varchar(64) PRIMARY KEY, state varchar(64) NOT NULL, grant_id varchar(64) NOT NULL);
-- The resource is known from the row alone. Names are of the awkward kinds.
CREATE TABLE cells (
	`select` varchar(64) NOT NULL, `a "b` bigint NOT NULL, sheet varchar(64) NOT NULL,
	`order` varchar(64), fence bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (`select`, `a "b`)
);
CREATE TABLE notes (id varchar(64) PRIMARY KEY, body text);
CREATE TABLE `lines` (id varchar(64) PRIMARY KEY, region varchar(64) NOT NULL, qty bigint NOT NULL, code varchar(64) UNIQUE);
CREATE TABLE events (id bigint AUTO_INCREMENT PRIMARY KEY, kind varchar(64) NOT NULL DEFAULT 'none', n bigint NOT NULL DEFAULT 1, twice bigint GENERATED ALWAYS AS (n * 2) STORED);
