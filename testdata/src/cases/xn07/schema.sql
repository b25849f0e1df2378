CREATE TABLE cron_lease (
    name       text PRIMARY KEY,
    owner      text,
    fence      bigint NOT NULL DEFAULT 0,
    expires_at timestamptz NOT NULL DEFAULT '-infinity'
);
