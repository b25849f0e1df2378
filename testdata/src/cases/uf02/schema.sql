CREATE TABLE recurring_tasks (
    task            varchar(190) PRIMARY KEY,
    last_started_at datetime(6) NULL
);
