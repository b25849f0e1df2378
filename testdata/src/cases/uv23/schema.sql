CREATE TABLE transcodes (
    id            bigserial PRIMARY KEY,
    input         text NOT NULL,
    state         text NOT NULL DEFAULT 'new',
    claim         uuid,
    claimed_until timestamptz,
    output        text,
    error         text
);
