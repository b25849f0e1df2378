CREATE TABLE cluster_discovery (
    cluster_name varchar(64) NOT NULL,
    hostname     varchar(255) NOT NULL,
    last_ping_at bigint NOT NULL,
    PRIMARY KEY (cluster_name, hostname)
);
