CREATE TABLE market_election (
    market text PRIMARY KEY,
    node   text NOT NULL,
    term   bigint NOT NULL
);
CREATE TABLE settlement (
    market text NOT NULL,
    day    date NOT NULL,
    total  bigint NOT NULL DEFAULT 0,
    closed boolean NOT NULL DEFAULT false,
    PRIMARY KEY (market, day)
);
