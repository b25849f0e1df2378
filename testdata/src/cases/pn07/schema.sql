CREATE TABLE cluster_member (
    node    text PRIMARY KEY,
    counter bigint NOT NULL DEFAULT 0,
    state   text NOT NULL
);
