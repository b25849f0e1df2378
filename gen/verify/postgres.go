package verify

// postgres reads pg_catalog, which everybody may: information_schema shows only what a
// role owns or was granted.
var postgres = catalogue{
	bigint: "bigint",

	settings: `SELECT pg_catalog.array_to_string(pg_catalog.current_schemas(false), ', '), false, false, ''`,

	tables: `
SELECT n.nspname, c.relname, c.relkind IN ('v', 'm'), '', c.relpersistence = 'u'
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname = $2::text
  AND c.relkind IN ('r', 'p', 'f', 'v', 'm')
  AND CASE WHEN $1::text = '' THEN pg_catalog.pg_table_is_visible(c.oid) ELSE n.nspname = $1::text END`,

	// A domain is what it comes down to, through any number of others.
	columns: `
WITH RECURSIVE base(type, is_type, not_null, filled) AS (
	SELECT t.oid, t.oid, false, false FROM pg_catalog.pg_type t WHERE t.typtype <> 'd'
	UNION ALL
	SELECT d.oid, b.is_type, b.not_null OR d.typnotnull, b.filled OR d.typdefault IS NOT NULL
	FROM pg_catalog.pg_type d JOIN base b ON b.type = d.typbasetype
	WHERE d.typtype = 'd'
)
SELECT a.attname,
       pg_catalog.format_type(a.atttypid, a.atttypmod),
       b.is_type = 'pg_catalog.int8'::pg_catalog.regtype,
       a.attnotnull OR b.not_null,
       a.atthasdef OR a.attidentity <> '' OR b.filled,
       a.attgenerated <> '' OR a.attidentity = 'a',
       CASE WHEN bt.typname = 'citext' THEN 'citext'
            WHEN NOT COALESCE(l.collisdeterministic, true) THEN l.collname::text
            ELSE '' END
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN base b ON b.type = a.atttypid
JOIN pg_catalog.pg_type bt ON bt.oid = b.is_type
LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
WHERE n.nspname = $1::text AND c.relname = $2::text AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum`,

	// ON CONFLICT takes no key that is deferrable, partial, invalid or of expressions.
	keys: `
SELECT i.relname, x.indisprimary, COALESCE(a.attname, ''),
       x.indisvalid AND x.indimmediate AND x.indpred IS NULL AND x.indexprs IS NULL
FROM pg_catalog.pg_index x
JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
JOIN pg_catalog.pg_class c ON c.oid = x.indrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL pg_catalog.unnest(x.indkey::pg_catalog.int2[]) WITH ORDINALITY AS k(att, at)
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.att
WHERE n.nspname = $1::text AND c.relname = $2::text AND x.indisunique AND k.at <= x.indnkeyatts
ORDER BY x.indisprimary DESC, i.relname, k.at`,

	// The bits of tgtype: 1 for each row, 2 before, 4 insert, 8 delete, 16 update.
	triggers: `
SELECT t.tgname,
       t.tgtype & 3 = 3, t.tgtype & 4 <> 0, t.tgtype & 16 <> 0, t.tgtype & 8 <> 0,
       t.tgattr::text <> '',
       CASE t.tgenabled WHEN 'D' THEN 'it is disabled' WHEN 'R' THEN 'it runs on replicas only' ELSE '' END,
       p.prosrc || ' ' || pg_catalog.pg_get_triggerdef(t.oid)
FROM pg_catalog.pg_trigger t
JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
WHERE n.nspname = $1::text AND c.relname = $2::text AND NOT t.tgisinternal
ORDER BY t.tgname`,
}
