CREATE TABLE device_configs (
    device_id   BIGINT NOT NULL PRIMARY KEY,
    fleet       VARCHAR(32) NOT NULL,
    firmware    VARCHAR(32) NOT NULL,
    channel     VARCHAR(16) NOT NULL DEFAULT 'stable',
    rollout_gen BIGINT NOT NULL DEFAULT 0,
    KEY (fleet)
);
