CREATE TABLE fleet_leader (
    fleet text PRIMARY KEY,
    term  bigint NOT NULL,
    node  text NOT NULL
);
CREATE TABLE fleet_plan (
    fleet text NOT NULL,
    step  integer NOT NULL,
    body  jsonb NOT NULL,
    PRIMARY KEY (fleet, step)
);
CREATE TABLE fleet_node (
    id     text PRIMARY KEY,
    fleet  text NOT NULL,
    target text NOT NULL
);
