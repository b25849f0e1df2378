-- Who may work on a resource. A row stays when its lease is given back: it
-- remembers the last token.
CREATE TABLE leases (
	name       TEXT    PRIMARY KEY,
	owner      TEXT    NOT NULL,
	token      INTEGER NOT NULL,
	expires_at INTEGER NOT NULL -- seconds since 1970
);

-- What the owner works on. fence is the token of the last accepted write.
CREATE TABLE schedules (
	day   TEXT    PRIMARY KEY,
	plan  TEXT    NOT NULL,
	state TEXT    NOT NULL,
	fence INTEGER NOT NULL
);

INSERT INTO leases (name, owner, token, expires_at) VALUES ('schedule:daily', '', 0, 0);
INSERT INTO schedules (day, plan, state, fence) VALUES ('monday', '', 'draft', 0);
