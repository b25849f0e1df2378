CREATE TABLE dashboards (
    uid      text PRIMARY KEY,
    title    text,
    body     text,
    folder   text,
    revision bigint NOT NULL DEFAULT 1 -- fence
);
