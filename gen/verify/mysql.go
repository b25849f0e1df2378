package verify

// mysql is of MariaDB and MySQL, whose information_schema is the same in what is read.
var mysql = catalogue{
	bigint: "BIGINT",
	hidden: "the server shows triggers only to who has the privilege TRIGGER",

	settings: `
SELECT COALESCE(DATABASE(), ''), @@lower_case_table_names <> 0, TRUE,
       CASE WHEN FIND_IN_SET('STRICT_TRANS_TABLES', @@SESSION.sql_mode) OR FIND_IN_SET('STRICT_ALL_TABLES', @@SESSION.sql_mode)
            THEN '' ELSE CONCAT('sql_mode is "', @@SESSION.sql_mode, '"') END`,

	// Only InnoDB has the row locks that guards were measured with.
	tables: `
SELECT table_schema, table_name, table_type LIKE '%VIEW%',
       CASE WHEN engine IS NULL OR engine = 'InnoDB' THEN '' ELSE engine END, FALSE
FROM information_schema.tables
WHERE table_schema = COALESCE(NULLIF(?, ''), DATABASE()) AND table_name = ?`,

	// An enum without a default has its first value; DEFAULT_GENERATED is a default.
	// Collations that end in _ai_cs tell letters from capitals, and no accents.
	columns: `
SELECT column_name, column_type, data_type = 'bigint', is_nullable = 'NO',
       column_default IS NOT NULL OR extra LIKE '%auto_increment%' OR data_type = 'enum',
       extra LIKE '%VIRTUAL GENERATED%' OR extra LIKE '%STORED GENERATED%',
       CASE WHEN collation_name IS NULL OR RIGHT(collation_name, 4) = '_bin'
              OR RIGHT(collation_name, 3) = '_cs' AND INSTR(collation_name, '_ai_') = 0
            THEN '' ELSE collation_name END
FROM information_schema.columns
WHERE table_schema = ? AND table_name = ?
ORDER BY ordinal_position`,

	// A unique index on the beginning of a column makes nothing else of it unique, so it
	// is of no column.
	keys: `
SELECT index_name, index_name = 'PRIMARY',
       CASE WHEN index_name <> 'PRIMARY' AND sub_part IS NOT NULL THEN '' ELSE COALESCE(column_name, '') END,
       sub_part IS NULL AND column_name IS NOT NULL
FROM information_schema.statistics
WHERE table_schema = ? AND table_name = ? AND non_unique = 0
ORDER BY index_name <> 'PRIMARY', index_name, seq_in_index`,

	triggers: `
SELECT trigger_name, action_timing = 'BEFORE',
       event_manipulation LIKE '%INSERT%', event_manipulation LIKE '%UPDATE%', event_manipulation LIKE '%DELETE%',
       FALSE, '', action_statement
FROM information_schema.triggers
WHERE event_object_schema = ? AND event_object_table = ?
ORDER BY trigger_name`,
}
