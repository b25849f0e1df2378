CREATE TABLE allocators (
    campaign bigint PRIMARY KEY,
    term     bigint NOT NULL
);
CREATE TABLE budgets (
    campaign  bigint PRIMARY KEY,
    spent     bigint NOT NULL DEFAULT 0,
    closed_at timestamptz
);
