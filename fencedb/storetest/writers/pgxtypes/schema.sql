CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TABLE kinds (
	id bigint PRIMARY KEY,
	n2 smallint, n4 integer, n8 bigint, r4 real, r8 double precision, yes boolean, raw bytea,
	words text, short varchar(20), fixed char(5), moody mood,
	num numeric(30, 10), cash money, ident uuid, span interval, clock time, clockz timetz,
	day date, moment timestamp, instant timestamptz, doc json, bdoc jsonb,
	ip inet, net cidr, mac macaddr, bits bit(4), vbits bit varying(8), doc_xml xml, lexemes tsvector,
	nums int8range, whens tstzrange, spot point,
	texts text[], ints bigint[], idents uuid[], amounts numeric[], moods mood[],
	fence bigint NOT NULL DEFAULT 0
);
CREATE TABLE uuids (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), n bigint NOT NULL);
CREATE TABLE intervals (span interval DEFAULT '1 day 02:03:04', addr inet DEFAULT '10.0.0.1', at timestamptz DEFAULT now(), n bigint NOT NULL, PRIMARY KEY (span, addr, at));
