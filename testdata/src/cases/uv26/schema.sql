CREATE TABLE sys.backfills (
    id          bigint PRIMARY KEY,
    spec        jsonb NOT NULL,
    done_to     bigint NOT NULL DEFAULT 0,
    claim_epoch bigint NOT NULL DEFAULT 0, -- raised by every claim
    claimed_by  text
);
CREATE TABLE sys.backfills_archive (
    id      bigint PRIMARY KEY,
    spec    jsonb NOT NULL,
    done_to bigint NOT NULL
);
