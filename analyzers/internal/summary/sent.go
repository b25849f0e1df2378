package summary

// This file tells which statements a function sends that are for its callers to be
// judged by.

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/authority"
	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/sink"
	"github.com/fencelint/fence/analyzers/internal/sqltext"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// Defers tells whether the statements of fn, an exported method, are for its callers
// to be judged by: they go over a handle of the receiver that is a pool or a
// transaction, as whoever made the receiver wanted.
func (c *Code) Defers(fn *ssa.Function) bool {
	obj, _ := fn.Object().(*types.Func)
	if obj == nil || !obj.Exported() || fn.Signature.Recv() == nil {
		return false
	}
	if out, ok := c.defers[fn]; ok {
		return out
	}
	c.defers[fn] = false
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			call, ok := in.(ssa.CallInstruction)
			if !ok {
				continue
			}
			if sp, ok := c.Sink.Spec(call.Common()); !ok || sp.Store != sink.SQL {
				continue
			}
			if s := c.Sink.Site(call); s != nil && s.Handle != nil && c.Either(s.Handle) {
				c.defers[fn] = true
				return true
			}
		}
	}
	return false
}

// Either tells whether a handle may be a pool and may be a transaction.
func (c *Code) Either(handle ssa.Value) bool {
	if adapter(handle.Type()) {
		return true
	}
	tx, pool := false, false
	c.Trace.Walk(handle, func(v, _ ssa.Value) ([]ssa.Value, bool) {
		tx, pool = tx || IsTx(v.Type()), pool || IsPool(v.Type())
		return nil, false
	})
	return tx && pool
}

// adapter tells whether a type is a program's own database handle: it keeps a
// transaction, if it is in one, and begins one, if it is not.
func adapter(t types.Type) bool {
	n := ir.NamedOf(t)
	if n == nil {
		return false
	}
	st, ok := n.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	keeps := false
	for i := range st.NumFields() {
		keeps = keeps || IsTx(st.Field(i).Type())
	}
	if !keeps {
		return false
	}
	for _, name := range []string{"BeginTx", "Begin", "BeginTxx"} {
		if m, _, _ := types.LookupFieldOrMethod(types.NewPointer(n), true, n.Obj().Pkg(), name); m != nil {
			return true
		}
	}
	return false
}

// IsTx tells whether a type is a transaction's.
func IsTx(t types.Type) bool {
	n := ir.NamedOf(t)
	return n != nil && n.Obj().Name() == "Tx"
}

// IsPool tells whether a type is a pool, each of whose statements may take another
// connection.
func IsPool(t types.Type) bool {
	return ir.IsNamed(t, "database/sql", "DB") || ir.IsNamed(t, "github.com/jackc/pgx/v5/pgxpool", "Pool") ||
		ir.IsNamed(t, "github.com/jmoiron/sqlx", "DB")
}

// maxSent bounds the statements kept of one generated function.
const maxSent = 24

// Sent returns the statements that fn itself sends and that write or lock, as far
// as all of their text is known.
func (c *Code) Sent(fn *ssa.Function) []Sent {
	var out []Sent
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			call, ok := in.(ssa.CallInstruction)
			if !ok {
				continue
			}
			s := c.Sink.Site(call)
			if s == nil || s.Spec.Store != sink.SQL || !s.Spec.HasText() {
				continue
			}
			if s.Target == "" && authority.LockOf(s.Scripts) == sqlstmt.NoLock {
				continue
			}
			// Of a generated statement that nobody has read whole its caller is told nothing.
			partial := c.Pkg.Generated(fn.Pos()) && (len(s.Texts) != 1 || !sqltext.Known(s.Texts[0]))
			for _, t := range s.Texts {
				if strings.Trim(t, sqlstmt.Hole) != "" && len(out) < maxSent {
					out = append(out, Sent{Text: t, Style: s.Style, Partial: partial, At: c.At(call.Pos())})
				}
			}
		}
	}
	return out
}
