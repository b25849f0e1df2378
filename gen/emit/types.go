package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/fencelint/fence/gen/plan"
)

// goType prints a Go type.
func goType(t plan.Type) *jen.Statement {
	name := strings.TrimPrefix(t.Name, "[]")
	s := jen.Null()
	if name != t.Name {
		s = jen.Index()
	}
	if t.Import != "" {
		return s.Qual(t.Import, name)
	}
	return s.Id(name)
}

// field is a column's type in a row: a pointer if it may be NULL and its type has no nil
// of its own, a change if it may be left out.
func field(c *plan.Column) *jen.Statement {
	switch {
	case c.Optional:
		return change(c)
	case c.Null && !c.Type.Nils:
		return jen.Op("*").Add(goType(c.Type))
	}
	return goType(c.Type)
}

func change(c *plan.Column) *jen.Statement {
	return jen.Qual(fencedbPath, "Change").Types(goType(c.Type))
}

// types prints the types of keys, rows and patches.
func (e *table) types() {
	name := e.GoName
	e.doc(name + "Key is the primary key of table " + e.Name + ".")
	var key []jen.Code
	for _, c := range e.Key {
		key = append(key, jen.Id(c.GoName).Add(goType(c.Type)))
	}
	e.file.Type().Id(name + "Key").Struct(key...)
	e.file.Line()

	e.doc(name+"Row is a row of table "+e.Name+" to insert.", optionalDoc(e.Columns))
	var row []jen.Code
	for _, c := range e.Columns {
		f := jen.Id(c.GoName).Add(field(c))
		switch {
		case c.Optional && c.Null:
			f.Comment("the database's default if left out; may be NULL")
		case c.Optional:
			f.Comment("the database's default if left out")
		case c.Null:
			f.Comment("nil is NULL")
		}
		row = append(row, f)
	}
	e.file.Type().Id(name + "Row").Struct(row...)
	e.file.Line()

	e.doc(name+"Patch is what an update changes of a row of table "+e.Name+": what is set with [fencedb.Set] or [fencedb.Null]. Everything else stays.", fixedDoc(e.Columns))
	var patch []jen.Code
	for _, c := range e.Patched() {
		f := jen.Id(c.GoName).Add(change(c))
		if c.Null {
			f.Comment("may be NULL")
		}
		patch = append(patch, f)
	}
	e.file.Type().Id(name + "Patch").Struct(patch...)
	e.file.Line()

	e.doc(name + "Change is a patch of the row with a key.")
	e.file.Type().Id(name+"Change").Struct(jen.Id("Key").Id(name+"Key"), jen.Id("Patch").Id(name+"Patch"))
	e.file.Line()
}

func optionalDoc(cs []*plan.Column) string {
	for _, c := range cs {
		if c.Optional {
			return "Where a column has a default, the zero [fencedb.Change] leaves it to the database."
		}
	}
	return ""
}

// fixedDoc says which columns a patch has not, beside the key.
func fixedDoc(cs []*plan.Column) string {
	var names []string
	for _, c := range cs {
		if c.Fixed && !c.Key {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "It has no " + strings.Join(names, ", ") + ", which says of which resource the row is."
}
