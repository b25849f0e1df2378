CREATE TABLE segment (
    id          bigint PRIMARY KEY,
    stream      text NOT NULL,
    size_bytes  bigint NOT NULL DEFAULT 0,
    sealed      boolean NOT NULL DEFAULT false,
    tier        text NOT NULL DEFAULT 'hot',
    fence_token bigint NOT NULL DEFAULT 0
);
