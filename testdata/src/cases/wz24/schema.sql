CREATE TABLE backup_plans (
    id          bigint PRIMARY KEY,
    target      text NOT NULL,
    note        text NOT NULL DEFAULT '',
    labels      text[] NOT NULL DEFAULT '{}',
    holder      uuid,
    lease_until timestamptz,
    epoch       bigint NOT NULL DEFAULT 0,
    last_size   bigint
);
