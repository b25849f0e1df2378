CREATE TABLE exports (
    id          bigserial PRIMARY KEY,
    format      text NOT NULL,
    state       text NOT NULL DEFAULT 'queued',
    attempt     integer NOT NULL DEFAULT 0, -- fence:token rule=equal
    lease_until timestamptz,
    url         text,
    error       text
);
