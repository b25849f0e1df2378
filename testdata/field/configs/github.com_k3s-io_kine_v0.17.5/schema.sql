-- The table as pkg/drivers/sqlite creates it: kine has no SQL files.
CREATE TABLE IF NOT EXISTS kine (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	name TEXT,
	created INTEGER,
	deleted INTEGER,
	create_revision INTEGER,
	prev_revision INTEGER,
	lease INTEGER,
	value BLOB,
	old_value BLOB
);
CREATE UNIQUE INDEX IF NOT EXISTS kine_name_prev_revision_uindex ON kine (name, prev_revision);
