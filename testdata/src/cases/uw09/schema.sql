CREATE TABLE printer_slot (
    printer  varchar(40) NOT NULL,
    slot     int NOT NULL,
    job      bigint,
    grant_no bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (printer, slot)
);
