-- +goose Up
-- The tables of package sqllease, version 1. Times are UTC. A migration that was cut off is
-- run again, since these statements commit one by one.
CREATE TABLE IF NOT EXISTS fence_schema (
	version    int         NOT NULL PRIMARY KEY,
	applied_at datetime(6) NOT NULL
) ENGINE = InnoDB;

-- The counter of each namespace. Its row is never deleted.
CREATE TABLE IF NOT EXISTS fence_namespaces (
	namespace        varchar(255) NOT NULL PRIMARY KEY,
	incarnation      int          NOT NULL DEFAULT 0 CHECK (incarnation BETWEEN 0 AND 32767),
	counter          bigint       NOT NULL DEFAULT 0 CHECK (counter BETWEEN 0 AND 281474976710655),
	place            varchar(255),
	quarantine_until datetime(6)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The last grant of each resource.
CREATE TABLE IF NOT EXISTS fence_leases (
	resource      varchar(255) NOT NULL PRIMARY KEY,
	namespace     varchar(255) NOT NULL,
	token         bigint       NOT NULL DEFAULT 0 CHECK (token >= 0),
	grant_id      varchar(64),
	owner         varchar(255),
	ended         varchar(16) CHECK (ended IN ('released', 'broken')),
	granted       datetime(6),
	renewed       datetime(6),
	expires       datetime(6),
	free_at       datetime(6),
	lock_delay_us bigint NOT NULL DEFAULT 0,
	ttl_us        bigint NOT NULL DEFAULT 0,
	usable_ns     bigint NOT NULL DEFAULT 0,
	renewals      bigint NOT NULL DEFAULT 0,
	prev_token    bigint,
	prev_grant_id varchar(64),
	prev_owner    varchar(255),
	prev_end      varchar(16),
	prev_renewed  datetime(6),
	prev_ended    datetime(6)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What operators did.
CREATE TABLE IF NOT EXISTS fence_audit (
	id           bigint        NOT NULL AUTO_INCREMENT PRIMARY KEY,
	at           datetime(6)   NOT NULL,
	namespace    varchar(255)  NOT NULL,
	action       varchar(32)   NOT NULL,
	resource     varchar(255),
	actor        varchar(255)  NOT NULL,
	reason       varchar(1024) NOT NULL,
	token_before bigint        NOT NULL,
	token_after  bigint        NOT NULL,
	detail       varchar(255)  NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Writes that were rejected.
CREATE TABLE IF NOT EXISTS fence_rejections (
	id              bigint        NOT NULL AUTO_INCREMENT PRIMARY KEY,
	version         int           NOT NULL,
	at              datetime(6)   NOT NULL,
	resource        varchar(255)  NOT NULL,
	operation       varchar(64)   NOT NULL,
	table_name      varchar(255)  NOT NULL,
	row_key         varchar(1024) NOT NULL,
	presented_token bigint        NOT NULL,
	presented_grant varchar(64)   NOT NULL,
	current_token   bigint        NOT NULL,
	result          varchar(32)   NOT NULL,
	build           varchar(255)  NOT NULL,
	KEY fence_rejections_by_resource (resource)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

INSERT INTO fence_schema (version, applied_at) VALUES (1, UTC_TIMESTAMP(6)) ON DUPLICATE KEY UPDATE version = version;
