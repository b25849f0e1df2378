-- +goose Up
-- The tables of package sqllease, version 1. Never UNLOGGED: a crash would empty them, and
-- the counter of the tokens with them.
CREATE TABLE IF NOT EXISTS fence_schema (
	version    integer     NOT NULL PRIMARY KEY,
	applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The counter of each namespace. Its row is never deleted.
CREATE TABLE fence_namespaces (
	namespace        text    NOT NULL PRIMARY KEY,
	incarnation      integer NOT NULL DEFAULT 0 CHECK (incarnation BETWEEN 0 AND 32767),
	counter          bigint  NOT NULL DEFAULT 0 CHECK (counter BETWEEN 0 AND 281474976710655),
	place            text,
	quarantine_until timestamptz
);

-- The last grant of each resource. Renewals change no column that is indexed, and find room
-- in the same page.
CREATE TABLE fence_leases (
	resource      text   NOT NULL PRIMARY KEY,
	namespace     text   NOT NULL,
	token         bigint NOT NULL DEFAULT 0 CHECK (token >= 0),
	grant_id      text,
	owner         text,
	ended         text CHECK (ended IN ('released', 'broken')),
	granted       timestamptz,
	renewed       timestamptz,
	expires       timestamptz,
	free_at       timestamptz,
	lock_delay_us bigint NOT NULL DEFAULT 0,
	ttl_us        bigint NOT NULL DEFAULT 0,
	usable_ns     bigint NOT NULL DEFAULT 0,
	renewals      bigint NOT NULL DEFAULT 0,
	prev_token    bigint,
	prev_grant_id text,
	prev_owner    text,
	prev_end      text,
	prev_renewed  timestamptz,
	prev_ended    timestamptz
) WITH (fillfactor = 50);

-- What operators did.
CREATE TABLE fence_audit (
	id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	at           timestamptz NOT NULL,
	namespace    text        NOT NULL,
	action       text        NOT NULL,
	resource     text,
	actor        text        NOT NULL,
	reason       text        NOT NULL,
	token_before bigint      NOT NULL,
	token_after  bigint      NOT NULL,
	detail       text        NOT NULL
);

-- Writes that were rejected.
CREATE TABLE fence_rejections (
	id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	version         integer     NOT NULL,
	at              timestamptz NOT NULL,
	resource        text        NOT NULL,
	operation       text        NOT NULL,
	table_name      text        NOT NULL,
	row_key         text        NOT NULL,
	presented_token bigint      NOT NULL,
	presented_grant text        NOT NULL,
	current_token   bigint      NOT NULL,
	result          text        NOT NULL,
	build           text        NOT NULL
);
CREATE INDEX fence_rejections_by_resource ON fence_rejections (resource);

INSERT INTO fence_schema (version) VALUES (1);
