CREATE TABLE payout_owner (
    batch text PRIMARY KEY,
    epoch bigint NOT NULL
);
CREATE TABLE payout (
    id    bigint PRIMARY KEY,
    batch text NOT NULL,
    state text NOT NULL,
    cents bigint NOT NULL DEFAULT 0
);
CREATE TABLE payout_line (
    payout bigint NOT NULL REFERENCES payout (id),
    ref    text NOT NULL,
    cents  bigint NOT NULL
);
