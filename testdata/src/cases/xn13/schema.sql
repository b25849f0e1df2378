CREATE TABLE thumb_job (
    id      bigserial PRIMARY KEY,
    path    text NOT NULL,
    state   text NOT NULL DEFAULT 'new',
    error   text,
    attempt integer NOT NULL DEFAULT 0 -- fence:token rule=equal
);
