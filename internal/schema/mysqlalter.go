package schema

import (
	"fmt"

	"github.com/sqlc-dev/marino/ast"
)

// myAlteration applies one part of ALTER TABLE, whose columns stand at the places
// given; problem says why it could not.
type myAlteration func(m *my, e *entry, spec *ast.AlterTableSpec, at []site) (problem string)

// myAlterations are the parts of ALTER TABLE that change what we keep. The others
// (engine, partitions, checks, foreign keys) are none of ours.
var myAlterations = map[ast.AlterTableType]myAlteration{
	ast.AlterTableAddConstraint: func(_ *my, e *entry, spec *ast.AlterTableSpec, _ []site) string {
		e.constrain(spec.Constraint)
		return ""
	},
	ast.AlterTableDropPrimaryKey: func(_ *my, e *entry, _ *ast.AlterTableSpec, _ []site) string {
		e.dropOwnKey(primaryName)
		return ""
	},
	ast.AlterTableDropIndex: func(_ *my, e *entry, spec *ast.AlterTableSpec, _ []site) string {
		e.dropOwnKey(spec.Name)
		return ""
	},
	ast.AlterTableDropCheck: func(_ *my, e *entry, spec *ast.AlterTableSpec, _ []site) string { // DROP CONSTRAINT too
		e.dropOwnKey(spec.Constraint.Name)
		return ""
	},
	ast.AlterTableRenameIndex: func(_ *my, e *entry, spec *ast.AlterTableSpec, _ []site) string {
		e.renameOwnKey(spec.FromKey.O, spec.ToKey.O)
		return ""
	},
	ast.AlterTableRenameTable: func(_ *my, e *entry, spec *ast.AlterTableSpec, _ []site) string {
		e.rename(tableName(spec.NewTable))
		return ""
	},
	ast.AlterTableDropColumn: func(_ *my, e *entry, spec *ast.AlterTableSpec, _ []site) string {
		if e.Column(spec.OldColumnName.Name.O) == nil && !spec.IfExists {
			return noColumn(spec.OldColumnName)
		}
		e.dropColumn(spec.OldColumnName.Name.O)
		return ""
	},
	ast.AlterTableRenameColumn: func(_ *my, e *entry, spec *ast.AlterTableSpec, _ []site) string {
		if e.Column(spec.OldColumnName.Name.O) == nil {
			return noColumn(spec.OldColumnName)
		}
		e.renameColumn(spec.OldColumnName.Name.O, spec.NewColumnName.Name.O)
		return ""
	},
	ast.AlterTableAlterColumn: func(_ *my, e *entry, spec *ast.AlterTableSpec, _ []site) string {
		def := spec.NewColumns[0]
		set := len(def.Options) > 0 && !isMyNull(def.Options[0].Expr)
		if !e.change(def.Name.Name.O, func(c *Column) { c.HasDefault = set }) {
			return noColumn(def.Name)
		}
		return ""
	},
	ast.AlterTableModifyColumn: func(m *my, e *entry, spec *ast.AlterTableSpec, at []site) string {
		return m.redefine(e, spec, spec.NewColumns[0].Name, at)
	},
	ast.AlterTableChangeColumn: func(m *my, e *entry, spec *ast.AlterTableSpec, at []site) string {
		return m.redefine(e, spec, spec.OldColumnName, at)
	},
}

func noColumn(c *ast.ColumnName) string {
	return fmt.Sprintf("column %s is not in the schema", c.Name.O)
}

// redefine gives a column a new definition, and maybe another name and place.
func (m *my) redefine(e *entry, spec *ast.AlterTableSpec, old *ast.ColumnName, at []site) string {
	col := e.Column(old.Name.O)
	if col == nil {
		if spec.IfExists {
			return ""
		}
		return noColumn(old)
	}
	def := spec.NewColumns[0]
	e.renameColumn(old.Name.O, def.Name.Name.O)
	m.define(e, col, def, at[0])
	e.placeAt(def, spec.Position)
	return ""
}

// placeAt moves a column to where FIRST or AFTER says.
func (e *entry) placeAt(def *ast.ColumnDef, p *ast.ColumnPosition) {
	switch {
	case p == nil:
	case p.Tp == ast.ColumnPositionFirst:
		e.place(def.Name.Name.O, "")
	case p.Tp == ast.ColumnPositionAfter && p.RelativeColumn != nil:
		e.place(def.Name.Name.O, p.RelativeColumn.Name.O)
	}
}

func (m *my) alterTable(n *ast.AlterTableStmt) outcome {
	e := m.find(tableName(n.Table))
	if e == nil {
		return elsewhere(tableName(n.Table))
	}
	parts := m.text.alterations(n.Specs)
	var anchors []anchor
	for i, spec := range n.Specs {
		if spec.Tp == ast.AlterTableAddColumns {
			anchors = append(anchors, m.alterAdd(e, spec, parts[i])...)
			continue
		}
		alter := myAlterations[spec.Tp]
		if alter == nil {
			continue
		}
		if problem := alter(m, e, spec, parts[i].columns); problem != "" {
			m.note(m.st.src.pos(m.st.start), "ALTER TABLE "+e.Name+": "+problem)
		}
	}
	return applied(anchors...)
}

// alterAdd adds columns. The anchor of a lone one is the ADD, above which a
// directive may stand.
func (m *my) alterAdd(e *entry, spec *ast.AlterTableSpec, p part) []anchor {
	var anchors []anchor
	for i, def := range spec.NewColumns {
		if e.Column(def.Name.Name.O) == nil {
			m.addColumn(e, def, p.columns[i])
			e.placeAt(def, spec.Position)
		} else if !spec.IfNotExists {
			m.note(m.st.src.pos(m.st.start), fmt.Sprintf("ALTER TABLE %s: it has a column %s already", e.Name, def.Name.Name.O))
		}
		offset := p.columns[i].name
		if len(spec.NewColumns) == 1 {
			offset = p.start
		}
		anchors = append(anchors, anchor{offset: offset, column: e.Column(def.Name.Name.O)})
	}
	for _, c := range spec.NewConstraints {
		e.constrain(c)
	}
	return anchors
}
