CREATE TABLE cell_leases (
    cell       text PRIMARY KEY,
    epoch      bigint NOT NULL DEFAULT 0,
    holder     text
);
CREATE TABLE vm_placements (
    vm   uuid PRIMARY KEY,
    cell text NOT NULL REFERENCES cell_leases (cell),
    host text NOT NULL
);
