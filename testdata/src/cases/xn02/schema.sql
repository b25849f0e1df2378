CREATE TABLE sync_cursor (
    source     text PRIMARY KEY,
    generation bigint NOT NULL,
    position   text NOT NULL DEFAULT ''
);
CREATE TABLE doc_chunk (
    doc  text NOT NULL,
    seq  integer NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (doc, seq)
);
