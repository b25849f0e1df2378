CREATE TABLE daily_totals (
    day    date NOT NULL,
    store  integer NOT NULL,
    cents  bigint NOT NULL,
    fence  bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (day, store)
);
CREATE TABLE daily_totals_log (
    at   timestamptz NOT NULL DEFAULT now(),
    what text NOT NULL
);
