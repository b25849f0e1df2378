// Package revision is an optimistic-lock column type for gorm models.
package revision

import (
	"database/sql/driver"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// Number counts the updates of a row; 0 means that it was not read.
type Number int64

func (n *Number) Scan(src any) error {
	v, ok := src.(int64)
	if !ok {
		return fmt.Errorf("revision: cannot scan %T", src)
	}
	*n = Number(v)
	return nil
}

func (n Number) Value() (driver.Value, error) { return int64(n), nil }

// UpdateClauses makes gorm call ModifyStatement for every update of the model.
func (Number) UpdateClauses(f *schema.Field) []clause.Interface {
	return []clause.Interface{guard{field: f}}
}

type guard struct{ field *schema.Field }

func (guard) Name() string               { return "" }
func (guard) Build(clause.Builder)       {}
func (guard) MergeClause(*clause.Clause) {}

func (g guard) ModifyStatement(st *gorm.Statement) {
	if st.SQL.Len() > 0 || !st.ReflectValue.IsValid() {
		return
	}
	v, zero := g.field.ValueOf(st.Context, st.ReflectValue)
	if !zero {
		st.AddClause(clause.Where{Exprs: []clause.Expression{
			clause.Eq{Column: clause.Column{Table: clause.CurrentTable, Name: g.field.DBName}, Value: v},
		}})
	}
	st.SetColumn(g.field.DBName, clause.Expr{SQL: "? + 1", Vars: []any{clause.Column{Name: g.field.DBName}}}, true)
}
