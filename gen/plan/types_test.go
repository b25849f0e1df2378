package plan

import (
	"path/filepath"
	"testing"

	"github.com/fencelint/fence/internal/schema"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// TestTypesAreTested wants a column of every type among those that fencedb/storetest writes
// on the database itself.
func TestTypesAreTested(t *testing.T) {
	for _, d := range []sqlstmt.Dialect{sqlstmt.Postgres, sqlstmt.MariaDB} {
		s, err := schema.Load([]string{filepath.Join("..", "..", "fencedb", "storetest", "types", d.String(), "schema.sql")}, d)
		if err != nil {
			t.Fatal(err)
		}
		tested := map[string]bool{}
		for _, table := range s.Tables {
			for _, c := range table.Columns {
				tested[c.Type], tested[unqualified(c.Type)], tested[c.Base] = true, true, true
			}
		}
		for name := range goTypes[d] {
			if !tested[name] {
				t.Errorf("%s: no column is of type %s", d, name)
			}
		}
	}
}
