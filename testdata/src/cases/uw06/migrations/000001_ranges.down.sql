DROP TABLE range_desc;
DROP TABLE range_lease;
