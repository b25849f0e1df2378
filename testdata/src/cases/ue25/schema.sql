CREATE TABLE feed_lease (
    feed        text PRIMARY KEY,
    holder      text NOT NULL,
    token       bigint NOT NULL,
    valid_until timestamptz NOT NULL
);
