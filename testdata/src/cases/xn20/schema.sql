CREATE TABLE flow_node (
    id          bigint PRIMARY KEY,
    flow        bigint NOT NULL,
    status      text NOT NULL,
    result      bytea,
    fence_token bigint NOT NULL DEFAULT 0
);
CREATE TABLE flow (
    id          bigint PRIMARY KEY,
    status      text NOT NULL,
    fence_token bigint NOT NULL DEFAULT 0
);
