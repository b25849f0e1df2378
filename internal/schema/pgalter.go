package schema

import (
	"fmt"
	"regexp"

	"github.com/sqlc-dev/oliphant/ast"
)

// alteration applies one part of ALTER TABLE; problem says why it could not.
type alteration func(p *pg, e *entry, cmd *ast.AlterTableCmd) (problem string)

// alterations are the parts of ALTER TABLE that change what we keep. The others
// (owner, storage, statistics, checks) are none of ours.
var alterations = map[ast.AlterTableType]alteration{
	ast.AlterTableType_AT_DropColumn:  dropColumn,
	ast.AlterTableType_AT_SetNotNull:  onColumn(func(_ *pg, c *Column, _ *ast.AlterTableCmd) { c.NotNull = true }),
	ast.AlterTableType_AT_DropNotNull: onColumn(func(_ *pg, c *Column, _ *ast.AlterTableCmd) { c.NotNull = false }),
	ast.AlterTableType_AT_ColumnDefault: onColumn(func(_ *pg, c *Column, cmd *ast.AlterTableCmd) {
		c.HasDefault = cmd.GetDef() != nil && !isNull(cmd.GetDef())
	}),
	ast.AlterTableType_AT_DropExpression: onColumn(func(_ *pg, c *Column, _ *ast.AlterTableCmd) { c.Generated = false }),
	ast.AlterTableType_AT_AlterColumnType: onColumn(func(p *pg, c *Column, cmd *ast.AlterTableCmd) {
		p.setType(c, cmd.GetDef().GetColumnDef().GetTypeName())
	}),
	ast.AlterTableType_AT_AddIdentity: onColumn(func(_ *pg, c *Column, cmd *ast.AlterTableCmd) {
		identity(c, cmd.GetDef().GetConstraint())
	}),
	ast.AlterTableType_AT_SetIdentity: onColumn(func(_ *pg, c *Column, cmd *ast.AlterTableCmd) {
		for _, o := range cmd.GetDef().GetList().GetItems() {
			if o.GetDefElem().GetDefname() == "generated" {
				c.Generated = o.GetDefElem().GetArg().GetInteger().GetIval() == 'a'
			}
		}
	}),
	ast.AlterTableType_AT_DropIdentity: onColumn(func(_ *pg, c *Column, _ *ast.AlterTableCmd) {
		c.Generated, c.HasDefault = false, false
	}),
	ast.AlterTableType_AT_AddConstraint: func(p *pg, e *entry, cmd *ast.AlterTableCmd) string {
		p.constraint(e, cmd.GetDef().GetConstraint())
		return ""
	},
	ast.AlterTableType_AT_DropConstraint: func(_ *pg, e *entry, cmd *ast.AlterTableCmd) string {
		for _, t := range e.partitions() {
			t.dropOwnKey(cmd.GetName())
		}
		return ""
	},
	ast.AlterTableType_AT_AttachPartition: func(p *pg, e *entry, cmd *ast.AlterTableCmd) string {
		return p.relate(cmd.GetDef().GetPartitionCmd().GetName(), func(child *entry) { e.adopt(child, true) })
	},
	ast.AlterTableType_AT_DetachPartition: func(p *pg, e *entry, cmd *ast.AlterTableCmd) string {
		return p.relate(cmd.GetDef().GetPartitionCmd().GetName(), e.leave)
	},
	ast.AlterTableType_AT_AddInherit: func(p *pg, e *entry, cmd *ast.AlterTableCmd) string {
		return p.relate(cmd.GetDef().GetRangeVar(), func(parent *entry) { parent.adopt(e, false) })
	},
	ast.AlterTableType_AT_DropInherit: func(p *pg, e *entry, cmd *ast.AlterTableCmd) string {
		return p.relate(cmd.GetDef().GetRangeVar(), func(parent *entry) { parent.leave(e) })
	},
	ast.AlterTableType_AT_DisableTrig:       switchTriggers(true),
	ast.AlterTableType_AT_DisableTrigAll:    switchTriggers(true),
	ast.AlterTableType_AT_DisableTrigUser:   switchTriggers(true),
	ast.AlterTableType_AT_EnableReplicaTrig: switchTriggers(true), // fires on replicas only
	ast.AlterTableType_AT_EnableTrig:        switchTriggers(false),
	ast.AlterTableType_AT_EnableAlwaysTrig:  switchTriggers(false),
	ast.AlterTableType_AT_EnableTrigAll:     switchTriggers(false),
	ast.AlterTableType_AT_EnableTrigUser:    switchTriggers(false),
}

func (p *pg) alterTable(n *ast.AlterTableStmt) outcome {
	if n.GetObjtype() != ast.ObjectType_OBJECT_TABLE {
		return ignored(kindOf(p.st.words))
	}
	e := p.find(rangeName(n.GetRelation()))
	if e == nil {
		return p.unknownTable(rangeName(n.GetRelation()))
	}
	var anchors []anchor
	for _, node := range n.GetCmds() {
		cmd := node.GetAlterTableCmd()
		if cmd.GetSubtype() == ast.AlterTableType_AT_AddColumn {
			anchors = append(anchors, p.alterAdd(e, cmd))
			continue
		}
		alter := alterations[cmd.GetSubtype()]
		if alter == nil {
			continue
		}
		if problem := alter(p, e, cmd); problem != "" {
			p.note(p.st.src.pos(p.st.start), "ALTER TABLE "+e.Name+": "+problem)
		}
	}
	return applied(anchors...)
}

// adding is what stands before the name of a column that is added.
var adding = regexp.MustCompile(`(?i)\badd\s+(column\s+)?(if\s+not\s+exists\s+)?$`)

// alterAdd adds a column. Its anchor is the ADD, above which a directive may
// stand.
func (p *pg) alterAdd(e *entry, cmd *ast.AlterTableCmd) anchor {
	def := cmd.GetDef().GetColumnDef()
	offset := p.at(def.GetLocation())
	if m := adding.FindStringIndex(p.st.bare(p.st.start, offset)); m != nil {
		offset = p.st.start + m[0]
	}
	if e.Column(def.GetColname()) == nil {
		p.addColumn(e, def)
	} else if !cmd.GetMissingOk() {
		p.note(p.st.src.pos(p.st.start), fmt.Sprintf("ALTER TABLE %s: it has a column %s already", e.Name, def.GetColname()))
	}
	return anchor{offset: offset, column: e.Column(def.GetColname())}
}

func onColumn(f func(*pg, *Column, *ast.AlterTableCmd)) alteration {
	return func(p *pg, e *entry, cmd *ast.AlterTableCmd) string {
		if !e.change(cmd.GetName(), func(c *Column) { f(p, c, cmd) }) {
			return fmt.Sprintf("column %s is not in the schema", cmd.GetName())
		}
		return ""
	}
}

func dropColumn(_ *pg, e *entry, cmd *ast.AlterTableCmd) string {
	if e.Column(cmd.GetName()) == nil && !cmd.GetMissingOk() {
		return fmt.Sprintf("column %s is not in the schema", cmd.GetName())
	}
	e.dropColumn(cmd.GetName())
	return ""
}

// relate applies f to a table the command names.
func (p *pg) relate(r *ast.RangeVar, f func(*entry)) string {
	other := p.find(rangeName(r))
	if other == nil {
		return fmt.Sprintf("table %s is not in the schema", rangeName(r))
	}
	f(other)
	return ""
}

// switchTriggers turns one trigger off or on, or without a name all of them.
func switchTriggers(off bool) alteration {
	return func(_ *pg, e *entry, cmd *ast.AlterTableCmd) string {
		for _, t := range e.triggers {
			if cmd.GetName() == "" || t.Name == cmd.GetName() {
				t.disabled = off
			}
		}
		return ""
	}
}

func (p *pg) rename(n *ast.RenameStmt) outcome {
	switch n.GetRenameType() {
	case ast.ObjectType_OBJECT_INDEX:
		p.renameKey(n.GetRelation().GetRelname(), n.GetNewname())
		return applied()
	case ast.ObjectType_OBJECT_TYPE:
		p.renameType(names(n.GetObject().GetList().GetItems()), n.GetNewname())
		return applied()
	case ast.ObjectType_OBJECT_TABLE, ast.ObjectType_OBJECT_COLUMN, ast.ObjectType_OBJECT_TABCONSTRAINT, ast.ObjectType_OBJECT_TRIGGER:
	default:
		return ignored(kindOf(p.st.words))
	}
	e := p.find(rangeName(n.GetRelation()))
	if e == nil {
		return p.unknownTable(rangeName(n.GetRelation()))
	}
	switch n.GetRenameType() {
	case ast.ObjectType_OBJECT_TABLE:
		e.Name = n.GetNewname()
	case ast.ObjectType_OBJECT_COLUMN:
		e.renameColumn(n.GetSubname(), n.GetNewname())
	case ast.ObjectType_OBJECT_TABCONSTRAINT:
		p.renameKey(n.GetSubname(), n.GetNewname())
	case ast.ObjectType_OBJECT_TRIGGER:
		for _, t := range e.triggers {
			if t.Name == n.GetSubname() {
				t.Name = n.GetNewname()
			}
		}
	}
	return applied()
}

// renameType gives a named type another name. Columns keep theirs, as they are written.
func (p *pg) renameType(old name, to string) {
	d := p.catalog.domain(old)
	if d == nil {
		return
	}
	d.name.name = to
	if d.enum != nil && d.base == "enum" {
		d.enum.name.name = to
	}
}
