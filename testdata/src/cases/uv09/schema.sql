CREATE TABLE changelog_lock (
    id         int PRIMARY KEY,
    locked     tinyint NOT NULL DEFAULT 0,
    holder     varchar(64), -- fence: new for every start of a node
    granted_at datetime,
    beat_at    datetime
);
