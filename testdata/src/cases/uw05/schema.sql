CREATE TABLE book_lease (
    name       text PRIMARY KEY,
    epoch      bigint NOT NULL,
    holder     text,
    expires_at timestamptz NOT NULL
);
CREATE TABLE gl_account (
    id      bigint PRIMARY KEY,
    book    text NOT NULL,
    cents   bigint NOT NULL DEFAULT 0,
    closed  boolean NOT NULL DEFAULT false
);
CREATE TABLE gl_line (
    id      bigserial PRIMARY KEY,
    account bigint NOT NULL REFERENCES gl_account (id),
    ref     text NOT NULL,
    cents   bigint NOT NULL
);
