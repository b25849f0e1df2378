CREATE TABLE repo_mirrors (
    id            bigserial PRIMARY KEY,
    credentials   text NOT NULL,
    creds_expire  timestamptz NOT NULL,
    claimed_by    text,
    claimed_until timestamptz
);
