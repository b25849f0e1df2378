// Package stmt has statements with a name for metrics.
package stmt

import (
	"context"
	"database/sql"
	"regexp"
	"strconv"
	"strings"
)

var blanks = regexp.MustCompile(`\s+`)

// Named is a statement and its name.
type Named struct{ Name, SQL string }

// New writes the placeholders as the driver wants them.
func New(text, mark string, name string) *Named {
	if mark != "?" {
		n := 0
		text = regexp.MustCompile(`\?`).ReplaceAllStringFunc(text, func(string) string {
			n++
			return mark + strconv.Itoa(n)
		})
	}
	return &Named{Name: name, SQL: strings.TrimSpace(blanks.ReplaceAllString(text, " "))}
}

// Prepare has the server parse the statement once.
func (n *Named) Prepare(ctx context.Context, db *sql.DB) (*sql.Stmt, error) {
	return db.PrepareContext(ctx, n.SQL)
}
