CREATE TABLE offsets (
    topic      text NOT NULL,
    part       integer NOT NULL,
    position   integer NOT NULL DEFAULT 0,
    generation integer NOT NULL DEFAULT 0, -- fence:token
    PRIMARY KEY (topic, part)
);
