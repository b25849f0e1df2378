package sqltext

// This file takes a prepared statement for its text.

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
)

// IsPrepared tells whether a value of the type is a prepared statement.
func IsPrepared(t types.Type) bool {
	return ir.IsNamed(t, "database/sql", "Stmt") || ir.IsNamed(t, "github.com/jmoiron/sqlx", "Stmt") ||
		ir.IsNamed(t, "github.com/jmoiron/sqlx", "NamedStmt")
}

// preparedText returns the text, or the statement, that a call makes a prepared
// statement of: db.Prepare(text), tx.Stmt(stmt).
func preparedText(c *ssa.Call) ssa.Value {
	res := c.Call.Signature().Results()
	if res.Len() == 0 || !IsPrepared(res.At(0).Type()) {
		return nil
	}
	var text ssa.Value
	for _, a := range c.Call.Args {
		switch b, ok := a.Type().Underlying().(*types.Basic); {
		case IsPrepared(a.Type()) && text == nil:
			return a
		case ok && b.Kind() == types.String:
			text = a
		}
	}
	return text
}

// noStatement tells whether v is the nil that goes with an error.
func noStatement(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value == nil && IsPrepared(v.Type())
}
