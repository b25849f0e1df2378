CREATE TABLE consumer_group (
    name       text PRIMARY KEY,
    generation bigint NOT NULL
);
CREATE TABLE assignment (
    group_name text NOT NULL,
    partition  integer NOT NULL,
    member     text NOT NULL,
    PRIMARY KEY (group_name, partition)
);
