CREATE TABLE stream_offsets (
    topic       text NOT NULL,
    part        integer NOT NULL,
    next_offset bigint NOT NULL,
    fence       bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (topic, part)
);
