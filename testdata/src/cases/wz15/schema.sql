CREATE TABLE sensor_windows (
    sensor     TEXT NOT NULL,
    start_unix INTEGER NOT NULL,
    samples    INTEGER NOT NULL DEFAULT 0,
    mean       REAL NOT NULL DEFAULT 0,
    fence      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (sensor, start_unix)
);
-- One row: the token of the connection's current owner session.
CREATE TABLE writer_session (one INTEGER PRIMARY KEY CHECK (one = 1), token INTEGER NOT NULL);

CREATE TRIGGER sensor_windows_bu BEFORE UPDATE ON sensor_windows
WHEN (SELECT token FROM writer_session) < OLD.fence
BEGIN
    SELECT RAISE(ABORT, 'fence:stale:sensor_windows');
END;
CREATE TRIGGER sensor_windows_bd BEFORE DELETE ON sensor_windows
WHEN (SELECT token FROM writer_session) < OLD.fence
BEGIN
    SELECT RAISE(ABORT, 'fence:stale:sensor_windows');
END;
CREATE TRIGGER sensor_windows_au AFTER UPDATE OF samples, mean ON sensor_windows
BEGIN
    UPDATE sensor_windows SET fence = (SELECT token FROM writer_session)
    WHERE sensor = NEW.sensor AND start_unix = NEW.start_unix;
END;
