package storetest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The tests that fence gen writes pass on the servers, too: with tests: true each table has
// one, of two parts. On SQLite they run with all others.
func TestGeneratedTests(t *testing.T) {
	eachServer(t, func(t *testing.T, db database) {
		db.writers(t)
		own, _ := db.withTables(t, "")
		cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "./writers/"+string(db.dialect))
		cmd.Env = append(os.Environ(), "FENCE_TEST_DSN="+own.source)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if passed := strings.Count(string(out), "    --- PASS: "); passed != 14 || strings.Contains(string(out), "--- SKIP: ") {
			t.Errorf("%d parts passed, want 14:\n%s", passed, out)
		}
	})
}
