CREATE TABLE delivery (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind         text NOT NULL,
    state        text NOT NULL DEFAULT 'available',
    tries        integer NOT NULL DEFAULT 0, -- fence:token rule=equal
    max_tries    integer NOT NULL DEFAULT 10,
    scheduled_at timestamptz NOT NULL DEFAULT now(),
    fetched_at   timestamptz,
    ended_at     timestamptz
);
