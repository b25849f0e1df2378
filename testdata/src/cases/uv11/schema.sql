-- fence:protect resource=lock:{name}
CREATE TABLE distributed_lock (
    name        text PRIMARY KEY,
    holder      text NOT NULL, -- fence:token rule=equal
    valid_until timestamptz NOT NULL
);
