-- Exports are claimed by workers; a claim is identified by a fresh uuid.
-- fence:protect resource=export:{id}
CREATE TABLE exports (
    id       INTEGER PRIMARY KEY,
    format   TEXT NOT NULL,
    progress INTEGER NOT NULL DEFAULT 0,
    location TEXT,
    claim    TEXT -- fence:token rule=equal
);
