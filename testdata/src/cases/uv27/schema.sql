CREATE TABLE stills (
    id      bigint PRIMARY KEY,
    state   text NOT NULL DEFAULT 'new',
    attempt integer NOT NULL DEFAULT 0,
    frames  bigint NOT NULL DEFAULT 0
);
