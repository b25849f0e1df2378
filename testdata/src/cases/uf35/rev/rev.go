// Package rev has a column type that guards updates by itself.
package rev

import (
	"database/sql/driver"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// Revision is compared and raised by every update of a model that has one;
// zero means unknown and compares nothing.
type Revision uint64

func (r *Revision) Scan(src any) error {
	v, ok := src.(int64)
	if !ok {
		return fmt.Errorf("rev: cannot scan %T", src)
	}
	*r = Revision(v)
	return nil
}

func (r Revision) Value() (driver.Value, error) { return int64(r), nil }

func (Revision) UpdateClauses(f *schema.Field) []clause.Interface {
	return []clause.Interface{guard{f}}
}

type guard struct{ field *schema.Field }

func (guard) Name() string               { return "" }
func (guard) Build(clause.Builder)       {}
func (guard) MergeClause(*clause.Clause) {}

func (g guard) ModifyStatement(st *gorm.Statement) {
	if st.SQL.Len() > 0 || !st.ReflectValue.IsValid() || st.ReflectValue.Type() != g.field.Schema.ModelType {
		return
	}
	col := clause.Column{Table: clause.CurrentTable, Name: g.field.DBName}
	if v, zero := g.field.ValueOf(st.Context, st.ReflectValue); !zero {
		st.AddClause(clause.Where{Exprs: []clause.Expression{clause.Eq{Column: col, Value: v}}})
	}
	st.SetColumn(g.field.DBName, clause.Expr{SQL: "? + 1", Vars: []any{clause.Column{Name: g.field.DBName}}}, true)
}
