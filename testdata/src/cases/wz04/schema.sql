CREATE TABLE replica_offsets (
    partition  INTEGER PRIMARY KEY,
    log_offset INTEGER NOT NULL,
    checksum   BLOB,
    fence      INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The database refuses updates that carry an older token than the stored one.
CREATE TRIGGER replica_offsets_fence BEFORE UPDATE ON replica_offsets
WHEN NEW.fence < OLD.fence
BEGIN
    SELECT RAISE(ABORT, 'stale fence');
END;
