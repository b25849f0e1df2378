CREATE TABLE venue_leases (
    venue text PRIMARY KEY,
    epoch bigint NOT NULL
);
CREATE TABLE seat_holds (
    venue text NOT NULL,
    seat  text NOT NULL,
    buyer bigint,
    PRIMARY KEY (venue, seat)
);
