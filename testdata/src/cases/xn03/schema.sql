CREATE TABLE venue_lease (
    venue bigint PRIMARY KEY,
    term  bigint NOT NULL
);
CREATE TABLE seat_map (
    venue bigint NOT NULL,
    seat  text NOT NULL,
    taken boolean NOT NULL DEFAULT false,
    PRIMARY KEY (venue, seat)
);
CREATE TABLE seat_order (
    id    bigserial PRIMARY KEY,
    venue bigint NOT NULL,
    seat  text NOT NULL
);
