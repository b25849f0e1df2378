CREATE TABLE state_blob (
    key         TEXT PRIMARY KEY,
    val         BLOB NOT NULL,
    etag        TEXT,
    fence_token INTEGER NOT NULL DEFAULT 0
) STRICT;
