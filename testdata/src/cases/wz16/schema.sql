CREATE TABLE index_owners (
    idx        text PRIMARY KEY,
    generation bigint NOT NULL
);
CREATE TABLE index_segments (
    idx     text NOT NULL,
    seg     bigint NOT NULL,
    docs    integer NOT NULL,
    deleted boolean NOT NULL DEFAULT false,
    PRIMARY KEY (idx, seg)
);
