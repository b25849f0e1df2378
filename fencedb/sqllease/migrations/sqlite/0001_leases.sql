-- +goose Up
-- The tables of package sqllease, version 1. Times are microseconds since 1970.
CREATE TABLE IF NOT EXISTS fence_schema (
	version    INTEGER NOT NULL PRIMARY KEY,
	applied_at INTEGER NOT NULL
);

-- The counter of each namespace. Its row is never deleted.
CREATE TABLE fence_namespaces (
	namespace        TEXT    NOT NULL PRIMARY KEY,
	incarnation      INTEGER NOT NULL DEFAULT 0 CHECK (typeof(incarnation) = 'integer' AND incarnation BETWEEN 0 AND 32767),
	counter          INTEGER NOT NULL DEFAULT 0 CHECK (typeof(counter) = 'integer' AND counter BETWEEN 0 AND 281474976710655),
	place            TEXT,
	quarantine_until INTEGER
);

-- The last grant of each resource.
CREATE TABLE fence_leases (
	resource      TEXT    NOT NULL PRIMARY KEY,
	namespace     TEXT    NOT NULL,
	token         INTEGER NOT NULL DEFAULT 0 CHECK (typeof(token) = 'integer' AND token >= 0),
	grant_id      TEXT,
	owner         TEXT,
	ended         TEXT CHECK (ended IN ('released', 'broken')),
	granted       INTEGER,
	renewed       INTEGER,
	expires       INTEGER,
	free_at       INTEGER,
	lock_delay_us INTEGER NOT NULL DEFAULT 0,
	ttl_us        INTEGER NOT NULL DEFAULT 0,
	usable_ns     INTEGER NOT NULL DEFAULT 0,
	renewals      INTEGER NOT NULL DEFAULT 0,
	prev_token    INTEGER,
	prev_grant_id TEXT,
	prev_owner    TEXT,
	prev_end      TEXT,
	prev_renewed  INTEGER,
	prev_ended    INTEGER
);

-- What operators did.
CREATE TABLE fence_audit (
	id           INTEGER PRIMARY KEY AUTOINCREMENT,
	at           INTEGER NOT NULL,
	namespace    TEXT    NOT NULL,
	action       TEXT    NOT NULL,
	resource     TEXT,
	actor        TEXT    NOT NULL,
	reason       TEXT    NOT NULL,
	token_before INTEGER NOT NULL,
	token_after  INTEGER NOT NULL,
	detail       TEXT    NOT NULL
);

-- Writes that were rejected.
CREATE TABLE fence_rejections (
	id              INTEGER PRIMARY KEY AUTOINCREMENT,
	version         INTEGER NOT NULL,
	at              INTEGER NOT NULL,
	resource        TEXT    NOT NULL,
	operation       TEXT    NOT NULL,
	table_name      TEXT    NOT NULL,
	row_key         TEXT    NOT NULL,
	presented_token INTEGER NOT NULL,
	presented_grant TEXT    NOT NULL,
	current_token   INTEGER NOT NULL,
	result          TEXT    NOT NULL,
	build           TEXT    NOT NULL
);
CREATE INDEX fence_rejections_by_resource ON fence_rejections (resource);

INSERT INTO fence_schema (version, applied_at)
VALUES (1, CAST(ROUND((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000);
