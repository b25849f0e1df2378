CREATE TABLE session (
    id         text PRIMARY KEY,
    user_id    bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    rotated_at timestamptz NOT NULL
);
CREATE TABLE invite (
    id          bigserial PRIMARY KEY,
    email       text NOT NULL,
    accepted_at timestamptz,
    expires_at  timestamptz NOT NULL
);
