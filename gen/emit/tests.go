package emit

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/fencelint/fence/gen/plan"
	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// testSuffix ends the name of every generated test file.
const testSuffix = "_fence_test.go"

// testFiles are the paused-owner test of each table, and what they share.
func testFiles(p *plan.Package) ([]File, error) {
	used := uses{}
	var files []File
	driver := goDrivers[p.Driver]
	names := fileNames(p.Tables)
	for i, t := range p.Tables {
		test := testOf(p, t)
		for _, name := range test.uses {
			used[name] = true
		}
		data, err := supportFile("testcase", p.Name, uses{test.fragment: true}, driver.on, test.words)
		if err != nil {
			return nil, fmt.Errorf("printing the test of %s: %w", t.Name, err)
		}
		files = append(files, File{strings.TrimSuffix(names[i], suffix) + testSuffix, data})
	}
	if len(used) == 0 {
		return files, nil
	}
	open := testDatabases[p.Dialect]
	if p.Driver == pgx {
		open = pgxDatabase
	}
	data, err := supportFile("tests", p.Name, used, driver.on, map[string]string{"@OPEN": open.code, "@ELSEWHERE": open.elsewhere, "@PARAM": open.param, "@DB": driver.db})
	if err != nil {
		return nil, err
	}
	if open.driver != "" {
		data = bytes.Replace(data, []byte("import (\n"), []byte("import (\n\t_ "+strconv.Quote(open.driver)+"\n"), 1)
	}
	if data, err = format("writer"+testSuffix, data); err != nil {
		return nil, err
	}
	return append(files, File{"writer" + testSuffix, data}), nil
}

// A test is the fragment of one table's test, and what its words stand for.
type test struct {
	fragment string
	uses     []string
	words    map[string]string
}

func testOf(p *plan.Package, t *plan.Table) test {
	words := map[string]string{"@TABLE": t.GoName, "@NAME": t.Name, "@DB": goDrivers[p.Driver].db}
	sample, missing := samples(t)
	if missing != nil {
		words["@REASON"] = strconv.Quote(fmt.Sprintf("column %s is %s, for which fence gen has no sample value", missing.Name, missing.DB))
		return test{"skipped", nil, words}
	}
	q := func(name string) string { return plan.Quote(p.Dialect, name) }
	table := q(t.Name)
	if t.Schema != "" && !p.RuntimeSchema {
		table = q(t.Schema) + "." + table
	}
	var conds, keys []string
	for i, k := range t.Key {
		conds = append(conds, q(k.Name)+" = "+placeholder(p.Dialect, i+1))
		keys = append(keys, "key."+k.GoName)
	}
	where := " WHERE " + strings.Join(conds, " AND ")
	words["@SAMPLE"] = sample
	words["@KEY"] = strings.Join(keys, ", ")
	words["@PLAIN"] = goText("DELETE FROM " + table + where)
	words["@SELECT"] = goText("SELECT 1 FROM " + table + where)
	words["@RESOURCE"] = resourceText(t)
	words["@CREATE"] = ""
	if create := createTable(p, t, table); create != "" {
		words["@CREATE"] = ", " + goText(create)
	}
	made := "\tkey = " + t.GoName + "Key{" + keyFields(t) + "}\n"
	insert := "err := %s.Insert(t.Context(), row)"
	if t.Insert.MakesKey {
		made, insert = "", "var err error\n\tkey, err = %s.Insert(t.Context(), row)"
	}
	switch t.Kind {
	case plan.Scope:
		in := func(token, do string) string {
			return fmt.Sprintf("InScope(t.Context(), db, %s, func(w *%sTx) error { %s })", token, t.GoName, do)
		}
		words["@DELETE_OWNER"] = in("owner", "return w.Delete(t.Context(), key)")
		words["@DELETE_SUCCESSOR"] = in("successor", "return w.Delete(t.Context(), key)")
		do := "return w.Insert(t.Context(), row)"
		if t.Insert.MakesKey {
			do = "\n\t\tvar err error\n\t\tkey, err = w.Insert(t.Context(), row)\n\t\treturn err\n\t"
		}
		raise := "\tif err := Guard(db).Raise(t.Context(), %s); err != nil {\n\t\tt.Fatal(err)\n\t}\n"
		clean := fmt.Sprintf("\tt.Cleanup(func() {\n\t\tif _, err := db.Exec(%s%s, owner.Resource()); err != nil {\n\t\t\tt.Error(err)\n\t\t}\n\t})\n",
			goDrivers[p.Driver].background, goText("DELETE FROM "+guardsName(p)+" WHERE resource = "+placeholder(p.Dialect, 1)))
		words["@MAKE"] = clean + fmt.Sprintf(raise, "owner") + "\tif err := " + in("owner", do) + "; err != nil {\n\t\tt.Fatal(err)\n\t}\n" + made
		words["@TAKEOVER"] = fmt.Sprintf(raise, "successor")
	case plan.Row:
		writer := func(token string) string { return fmt.Sprintf("New%sWriter(db, %s)", t.GoName, token) }
		words["@DELETE_OWNER"] = writer("owner") + ".Delete(t.Context(), key)"
		words["@DELETE_SUCCESSOR"] = writer("successor") + ".Delete(t.Context(), key)"
		words["@MAKE"] = "\t" + fmt.Sprintf(insert, writer("owner")) + "\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n" + made
		words["@TAKEOVER"] = fmt.Sprintf("\t// The first write of the successor closes the row.\n\tif err := %s.Update(t.Context(), key, %sPatch{}); err != nil {\n\t\tt.Fatal(err)\n\t}\n", writer("successor"), t.GoName)
		if t.Rule == config.Equal {
			value := "successor.Value()"
			if t.Fence.Type.Name == "string" {
				value = "successor.Grant()"
			}
			var marks []string
			for i, k := range t.Key {
				marks = append(marks, q(k.Name)+" = "+placeholder(p.Dialect, i+2))
			}
			take := "UPDATE " + table + " SET " + q(t.Fence.Name) + " = " + placeholder(p.Dialect, 1) + " WHERE " + strings.Join(marks, " AND ")
			words["@TAKEOVER"] = fmt.Sprintf("\t// The successor takes the row over.\n\tmustExec(t, db, %s, %s, %s)\n", goText(take), value, words["@KEY"])
		}
	}
	for name, text := range words {
		words[name] = strings.TrimSuffix(text, "\n")
	}
	return test{"test", []string{"database", "exec", "exists", "grants"}, words}
}

// guardsName is the quoted name of the table of guard rows.
func guardsName(p *plan.Package) string {
	parts := strings.Split(p.Guards, ".")
	for i, part := range parts {
		parts[i] = plan.Quote(p.Dialect, part)
	}
	return strings.Join(parts, ".")
}

// goText is a text as a Go constant, between back-quotes if it has none and has others.
func goText(text string) string {
	if strings.Contains(text, `"`) && strconv.CanBackquote(text) {
		return "`" + text + "`"
	}
	return strconv.Quote(text)
}

func placeholder(d sqlstmt.Dialect, n int) string {
	if d == sqlstmt.Postgres {
		return "$" + strconv.Itoa(n)
	}
	return "?"
}

// keyFields are the key of a row as the fields of a composite literal.
func keyFields(t *plan.Table) string {
	var fields []string
	for _, k := range t.Key {
		fields = append(fields, k.GoName+": row."+k.GoName)
	}
	return strings.Join(fields, ", ")
}

// resourceText is the resource of the sample row as an expression.
func resourceText(t *plan.Table) string {
	if t.Resource == nil {
		return `"fence gen test"`
	}
	var parts []string
	for _, p := range t.Resource.Parts {
		if p.Column != nil {
			parts = append(parts, "fmt.Sprint(row."+p.Column.GoName+")")
			continue
		}
		parts = append(parts, strconv.Quote(p.Text))
	}
	return strings.Join(parts, " + ")
}

// createTable makes a table like t in a database that has none: the columns alone, with
// neither defaults nor what refers to other tables. Only the embedded database needs it.
func createTable(p *plan.Package, t *plan.Table, quoted string) string {
	if p.Dialect != sqlstmt.SQLite {
		return ""
	}
	q := func(name string) string { return plan.Quote(p.Dialect, name) }
	var lines, key []string
	rowid := len(t.Key) == 1 && t.Insert.MakesKey
	for _, k := range t.Key {
		key = append(key, q(k.Name))
	}
	columns := t.Columns
	for _, k := range t.Key {
		if k.Made {
			columns = append([]*plan.Column{k}, columns...)
		}
	}
	for _, c := range columns {
		line := q(c.Name) + " " + c.DB
		switch {
		case c.Key && rowid:
			line = q(c.Name) + " INTEGER PRIMARY KEY"
		case !c.Null && !c.Optional && !c.Made:
			line += " NOT NULL"
		}
		lines = append(lines, line)
	}
	if t.Fence != nil {
		lines = append(lines, q(t.Fence.Name)+" "+t.Fence.DB+" NOT NULL")
	}
	if !rowid {
		lines = append(lines, "PRIMARY KEY ("+strings.Join(key, ", ")+")")
	}
	return "CREATE TABLE " + quoted + " (" + strings.Join(lines, ", ") + ")"
}

// samples are the fields of a row that can be inserted: those that have to be given.
func samples(t *plan.Table) (fields string, missing *plan.Column) {
	var list []string
	for _, c := range t.Columns {
		if c.Optional || c.Null {
			continue
		}
		value, ok := sample(c)
		if !ok {
			return "", c
		}
		list = append(list, "\n\t\t"+c.GoName+": "+value+",")
	}
	if len(list) == 0 {
		return "", nil
	}
	return strings.Join(list, "") + "\n\t", nil
}

// sampleTexts are values of types whose Go type is string and that take no word.
var sampleTexts = map[string]string{
	"uuid": "00000000-0000-4000-8000-000000000001", "numeric": "1", "decimal": "1", "dec": "1", "fixed": "1", "money": "1",
	"interval": "1 second", "time": "00:00:01", "time without time zone": "00:00:01", "timetz": "00:00:01+00", "time with time zone": "00:00:01+00",
	"inet": "127.0.0.1", "cidr": "127.0.0.1/32", "inet4": "127.0.0.1", "inet6": "::1", "macaddr": "08:00:2b:01:02:03",
	"xml": "<f/>", "bit": "1", "varbit": "1", "bit varying": "1", "json": "{}", "pg_lsn": "0/1",
	"int4range": "[1,2)", "int8range": "[1,2)", "numrange": "[1,2)", "point": "(0,0)",
}

// sampleValues are values of Go types.
var sampleValues = map[string]string{
	"int16": "1", "int32": "1", "int64": "1", "uint16": "1", "uint32": "1", "uint64": "1", "float32": "1", "float64": "1",
	"bool": "true", "[]byte": "[]byte{1}", "any": "1",
}

// sample is a value of a column as an expression.
func sample(c *plan.Column) (string, bool) {
	switch e := c.Type.Enum; {
	case e != nil && !c.Type.Nils && len(e.Labels) > 0:
		return e.Labels[0].GoName, true
	case c.Type.Import == "time" && c.Type.Name == "Time":
		return "time.Unix(1, 0).UTC()", true
	case c.Type.Import == "encoding/json" && c.Type.Name == "RawMessage":
		return "json.RawMessage(`{}`)", true
	case c.Type.Import != "":
		return "", false
	case c.Type.Name == "string" && c.DB != "enum" && c.DB != "set":
		text, ok := sampleTexts[c.DB]
		if !ok {
			text = "f" // as short as a text can be
		}
		return strconv.Quote(text), true
	case strings.HasPrefix(c.Type.Name, "[]") && c.Type.Name != "[]byte":
		return c.Type.Name + "{}", true
	}
	value, ok := sampleValues[c.Type.Name]
	return value, ok
}

// A testDatabase is how a test of a dialect opens its database.
type testDatabase struct {
	driver    string // the package to import only for what it registers; empty: none
	elsewhere string // the end of the sentence that says which database it is
	param     string // of openTest, beside the test
	code      string
}

var testDatabases = map[sqlstmt.Dialect]testDatabase{
	sqlstmt.SQLite: {"modernc.org/sqlite", `: a new
// one with the table that create makes, unless FENCE_TEST_DSN names one that has it, and the
// table of the guards. What the test writes there it removes.`, ", create string", `	dsn := os.Getenv("FENCE_TEST_DSN")
	own := dsn == ""
	if own {
		dsn = "file:" + filepath.Join(t.TempDir(), "test.db") + "?_pragma=busy_timeout(5000)&_txlock=immediate"
	}
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if !own {
		return db
	}
	mustExec(t, db, create)
	guards, err := fencedb.NewGuardTable(fencedb.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	if err := guards.Create(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return db`},
	sqlstmt.Postgres: server("github.com/jackc/pgx/v5/stdlib", "pgx", "PostgreSQL", postgresDSN),
	sqlstmt.MariaDB:  server(mysqlPath, "mysql", "MariaDB", mysqlDSN),
	sqlstmt.MySQL:    server(mysqlPath, "mysql", "MySQL", mysqlDSN),
}

// pgxDatabase opens PostgreSQL by pgx.
var pgxDatabase = testDatabase{"", testDatabases[sqlstmt.Postgres].elsewhere, "", needsServer("PostgreSQL", postgresDSN) + `	db, err := pgxpool.New(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db`}

// server is the database of a dialect that has to be running.
func server(pkg, driver, name, dsn string) testDatabase {
	return testDatabase{pkg, `, the one
// of FENCE_TEST_DSN, which has the table, and that of the guards. What the test writes there it
// removes.`, "", needsServer(name, dsn) + fmt.Sprintf(`	db, err := sql.Open(%q, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db`, driver)}
}

// Data sources of the servers, as examples.
const (
	postgresDSN = "postgres://user:password@host:5432/database"
	mysqlDSN    = "user:password@tcp(host:3306)/database"
)

// needsServer starts a test that only a server can run.
func needsServer(name, dsn string) string {
	return fmt.Sprintf(`	dsn := os.Getenv("FENCE_TEST_DSN")
	if dsn == "" {
		t.Skip("FENCE_TEST_DSN names no %s database with the tables: FENCE_TEST_DSN='%s' go test runs this test")
	}
`, name, dsn)
}
