CREATE TABLE camera_feeds (
    id     INTEGER PRIMARY KEY,
    site   TEXT NOT NULL,
    codec  TEXT NOT NULL DEFAULT '',
    frames INTEGER NOT NULL DEFAULT 0,
    fence  INTEGER NOT NULL DEFAULT 0
);
