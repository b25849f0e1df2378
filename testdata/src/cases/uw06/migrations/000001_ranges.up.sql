CREATE TABLE range_lease (
    range_id bigint PRIMARY KEY,
    gen      bigint NOT NULL,
    store    text NOT NULL,
    until    timestamptz NOT NULL
);

-- fence:protect guard=range_lease
CREATE TABLE range_desc (
    range_id  bigint PRIMARY KEY,
    start_key bytea NOT NULL,
    end_key   bytea NOT NULL
);
