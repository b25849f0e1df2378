package verify

import (
	"github.com/sqlc-dev/meyer/ast"
	"github.com/sqlc-dev/meyer/parser"
)

// sqlite reads sqlite_schema and what the pragmas tell as tables. There is no schema but
// main, as long as nobody attaches a file.
//
//nolint:misspell // "doub" is what SQLite looks for in a type
var sqlite = catalogue{
	bigint: "INTEGER",

	settings: `SELECT 'main', TRUE, TRUE, ''`,

	tables: `
SELECT 'main', name, type = 'view', CASE type WHEN 'virtual' THEN 'virtual' ELSE '' END, FALSE
FROM pragma_table_list
WHERE schema = 'main' AND ?1 IN ('', 'main') AND name = ?2 COLLATE NOCASE`,

	// Which declared types keep whole numbers as such: sqlite.org/datatype3.html, 3.1. A
	// lone INTEGER primary key of a table with a rowid numbers itself.
	columns: `
SELECT c.name, c.type,
       c.type LIKE '%int%' OR c.type <> '' AND c.type NOT LIKE '%char%' AND c.type NOT LIKE '%clob%' AND c.type NOT LIKE '%text%'
         AND c.type NOT LIKE '%blob%' AND c.type NOT LIKE '%real%' AND c.type NOT LIKE '%floa%' AND c.type NOT LIKE '%doub%',
       c."notnull",
       COALESCE(upper(c.dflt_value), 'NULL') <> 'NULL'
         OR upper(c.type) = 'INTEGER' AND c.pk = 1 AND (SELECT max(pk) FROM pragma_table_xinfo(?2)) = 1
            AND NOT EXISTS (SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND name = ?2 AND wr),
       c.hidden IN (2, 3),
       COALESCE((SELECT x.coll FROM pragma_index_list(?2) l, pragma_index_xinfo(l.name) x
                 WHERE x.cid = c.cid AND x.key AND x.coll <> 'BINARY' LIMIT 1), '')
FROM pragma_table_xinfo(?2) c
WHERE c.hidden <> 1
ORDER BY c.cid`,

	keys: `
SELECT key, prim, col, plain FROM (
	SELECT '' AS key, TRUE AS prim, name AS col, TRUE AS plain, -1 AS nth, pk AS at FROM pragma_table_xinfo(?2) WHERE pk > 0
	UNION ALL
	SELECT l.name, FALSE, COALESCE(x.name, ''), NOT l.partial AND x.cid >= 0, l.seq, x.seqno
	FROM pragma_index_list(?2) l, pragma_index_xinfo(l.name) x
	WHERE l."unique" AND l.origin <> 'pk' AND x.key
) ORDER BY nth, at`,

	triggers: `
SELECT name, FALSE, FALSE, FALSE, FALSE, FALSE, '', sql
FROM sqlite_schema
WHERE type = 'trigger' AND tbl_name = ?2 COLLATE NOCASE
ORDER BY name`,

	parse: parseSQLiteTrigger,
}

// parseSQLiteTrigger reads when a trigger runs from its text, which is all that SQLite
// keeps. One that is not understood is taken for one that always runs.
func parseSQLiteTrigger(t *trigger) {
	t.before, t.insert, t.update, t.delete = true, true, true, true
	stmt, err := parser.ParseStatement(t.body)
	if err != nil {
		return
	}
	n, ok := stmt.(*ast.CreateTriggerStmt)
	if !ok {
		return
	}
	t.before = !n.HasTime || n.Time == ast.TriggerBefore
	t.insert, t.update, t.delete = n.Event == "INSERT", n.Event == "UPDATE", n.Event == "DELETE"
	t.some = len(n.UpdateOf) > 0
}
