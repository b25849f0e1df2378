package emit

import (
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/fencelint/fence/gen/plan"
	"github.com/fencelint/fence/internal/config"
)

// writer prints the type of the writer, and how to get one.
func (e *table) writer() {
	e.used["raced"] = true
	if e.Kind == plan.Scope {
		e.used["scope"] = true
		e.doc(e.typ+" writes table "+e.Name+" in the scope of a token. [InScope] makes one, or "+e.GoName+" of a [Tx]; it ends with their transaction.",
			e.resourceDoc())
		e.file.Type().Id(e.typ).Struct(jen.Id("writer"))
		e.file.Line()
		e.file.Func().Params(jen.Op("*").Id(e.typ)).Id("in").Params(jen.Id("tx").Op("*").Id("Tx")).Op("*").Id(e.typ).
			Block(jen.Return(jen.Op("&").Id(e.typ).Values(jen.Id("tx").Dot("writer"))))
		e.file.Line()
		e.doc(e.GoName + " returns the writer of table " + e.Name + ".")
		e.file.Func().Params(jen.Id("tx").Op("*").Id("Tx")).Id(e.GoName).Params().Op("*").Id(e.typ).
			Block(jen.Return(jen.Op("&").Id(e.typ).Values(jen.Id("tx").Dot("writer"))))
		e.file.Line()
		return
	}
	e.used["row"] = true
	e.doc(e.typ+" writes table "+e.Name+" under a token that each row compares itself, in its column "+e.Fence.Name+".",
		e.rowDoc(), e.resourceDoc(),
		"Any number of goroutines may use one if they may use what it writes to.")
	e.file.Type().Id(e.typ).Struct(jen.Id("writer"))
	e.file.Line()
	e.doc("New"+e.typ+" returns a writer of table "+e.Name+" that writes to db, "+e.driver.targets+", under t.",
		"Its writes return nil or an error that says why nothing was changed: a [*fencedb.StaleError] if the row was written under a later token, one that matches [fencedb.ErrNotFound] if there is no such row, [fencedb.ErrWrongResource] or [fencedb.ErrInvalidToken] if t is not for it, else the database's, which matches [fencedb.ErrRetryable] if the transaction may be repeated.")
	e.file.Func().Id("New"+e.typ).Params(jen.Id("db").Add(e.driver.execer), jen.Id("t").Qual(fencedbPath, "Token"), jen.Id("opts").Op("...").Id("Option")).
		Op("*").Id(e.typ).Block(jen.Return(jen.Op("&").Id(e.typ).Values(jen.Id("newWriter").Call(jen.Id("db"), jen.Id("t"), jen.Id("opts")))))
	e.file.Line()
}

// rowDoc says what a row guard does not do.
func (e *table) rowDoc() string {
	if e.Rule == config.Equal {
		return "A row is written only under the very token it has: whoever makes the row, or takes it over, gives it one."
	}
	return "Only rows that were written under the later token are closed to an earlier one: until a new owner has written a row, the old one still can, and a row that was deleted may be inserted again. Where that matters, guard the table by scope."
}

// resourceDoc says of which resource a row is.
func (e *table) resourceDoc() string {
	if e.Resource == nil {
		return "Nothing says of which resource its rows are: a token of any resource writes them, and it is for the program to have one for each."
	}
	return "A row is of the resource " + strconv.Quote(e.Resource.Text) + "; a token of another one is refused."
}

// methods prints the operations.
func (e *table) methods() {
	e.insert()
	e.update()
	if e.Upsert != nil {
		e.upsert()
	}
	e.delete()
	e.batches()
	e.look()
	e.key()
}

// method starts a method of the writer.
func (e *table) method(name string) *jen.Statement {
	return e.file.Func().Params(jen.Id("w").Op("*").Id(e.typ)).Id(name)
}

var ctx = jen.Id("ctx").Qual("context", "Context")

func w() *jen.Statement { return jen.Id("w") }

// checked starts a method: it refuses tokens of other resources than the row's, as far as
// they are known before the database is asked.
func (e *table) checked(from source, fail ...jen.Code) jen.Code {
	want := jen.Lit("")
	if r := e.Resource; r != nil && (r.InKey || from.row != "") {
		want = resourceOf(r, from)
	}
	refuse := jen.Block(jen.Return(append(fail, jen.Id("err"))...))
	check := jen.If(jen.Id("err").Op(":=").Add(w()).Dot("forResource").Call(want), jen.Id("err").Op("!=").Nil()).Add(refuse)
	if e.Kind == plan.Row && !e.Ordered {
		e.used["granted"] = true
		check.Line().If(jen.Id("err").Op(":=").Add(w()).Dot("granted").Call(), jen.Id("err").Op("!=").Nil()).Add(refuse.Clone())
	}
	return check
}

// resourceOf is the resource of a row as an expression.
func resourceOf(t *plan.Template, from source) *jen.Statement {
	var s *jen.Statement
	for _, p := range t.Parts {
		part := jen.Lit(p.Text)
		if c := p.Column; c != nil {
			part = jen.Add(from.value(plan.Arg{Value: plan.OfColumn, Column: c}))
			if c.Type.Name != "string" || c.Type.Import != "" {
				part = jen.Qual("fmt", "Sprint").Call(part)
			}
		}
		if s == nil {
			s = part
			continue
		}
		s = s.Op("+").Add(part)
	}
	return s
}

// keyOf is the key of a row as an expression.
func (e *table) keyOf(row string) *jen.Statement {
	var values []jen.Code
	for _, k := range e.Key {
		values = append(values, jen.Id(k.GoName).Op(":").Id(row).Dot(k.GoName))
	}
	return jen.Id(e.GoName + "Key").Values(values...)
}

// tell prints the end of an operation: whoever observes is told, and an error gets the
// table and key.
func (e *table) tell(operation string, results jen.Code) jen.Code {
	return jen.If(jen.Err().Op("!=").Nil().Op("||").Add(w()).Dot("observer").Op("!=").Nil()).Block(
		jen.Err().Op("=").Add(w()).Dot("decided").Call(jen.Id("ctx"), jen.Lit(operation), jen.Lit(e.Name), jen.Id("text"+e.GoName+"Key").Call(jen.Id("key")), jen.Err()),
	).Line().Return(results)
}

// changing prints a method that changes the row of a key, and the unexported one that
// does it. Before comes what makes the key, where it is no parameter.
func (e *table) changing(exported, unexported, arg, typ string, before, body []jen.Code) {
	e.method(exported).Params(append([]jen.Code{ctx}, e.params(arg, typ)...)...).Error().Block(append(append([]jen.Code{
		jen.Err().Op(":=").Add(w()).Dot(unexported).Call(append([]jen.Code{jen.Id("ctx")}, e.args(arg)...)...),
	}, before...), e.tell(unexported, jen.Err()))...)
	e.file.Line()
	e.method(unexported).Params(append([]jen.Code{ctx}, e.params(arg, typ)...)...).Error().Block(body...)
	e.file.Line()
}

func (e *table) params(arg, typ string) []jen.Code {
	switch arg {
	case "":
		return []jen.Code{jen.Id("key").Id(e.GoName + "Key")}
	case "row":
		return []jen.Code{jen.Id("row").Id(typ)}
	}
	return []jen.Code{jen.Id("key").Id(e.GoName + "Key"), jen.Id(arg).Id(typ)}
}

func (e *table) args(arg string) []jen.Code {
	switch arg {
	case "":
		return []jen.Code{jen.Id("key")}
	case "row":
		return []jen.Code{jen.Id("row")}
	}
	return []jen.Code{jen.Id("key"), jen.Id(arg)}
}

// lookCall is the look at the row of a key.
func (e *table) lookCall() *jen.Statement {
	return w().Dot("look").Call(jen.Id("ctx"), jen.Id("key"))
}

// run prints what sends a statement and reads its outcome.
func (e *table) run(o plan.Outcome, query, args jen.Code) jen.Code {
	look := jen.Func().Params().Error().Block(jen.Return(e.lookCall()))
	call := func(name string, more ...jen.Code) jen.Code {
		e.used[name] = true
		return jen.Return(w().Dot(name).Call(append([]jen.Code{jen.Id("ctx"), query, args}, more...)...))
	}
	switch o {
	case plan.CountedChanges:
		return call("changedOrSame", look)
	case plan.Matched:
		return call("matched", look)
	}
	return call("changed", look)
}

// compare is the method that compares a fence with the token.
func (e *table) compare() string {
	name := "monotonic"
	if e.Rule == config.Equal {
		name = "equal"
		if !e.Ordered {
			name = "grant"
		}
	}
	e.used[name] = true
	return name
}

func (e *table) update() {
	e.doc("Update changes what patch sets of the row with key.", e.emptyPatchDoc())
	from := source{key: "key", patch: "patch"}
	var none []jen.Code
	if e.Kind == plan.Scope {
		none = []jen.Code{jen.Return(e.lookCall())}
	}
	body := []jen.Code{e.checked(source{key: "key"})}
	if len(e.Patched()) == 0 && e.Kind == plan.Scope {
		body = append(body, jen.Return(e.lookCall()))
	} else {
		code, query, args, _ := e.prepare(e.Update.Statement, from, none)
		body = append(append(body, code...), e.run(e.Update.Outcome, query, args))
	}
	e.changing("Update", "update", "patch", e.GoName+"Patch", nil, body)
}

func (e *table) emptyPatchDoc() string {
	if e.Kind == plan.Row && e.Rule == config.Monotonic {
		return "A patch that sets nothing stores the token in the row, which closes it to earlier ones."
	}
	return "A patch that sets nothing only finds out whether there is the row."
}

func (e *table) delete() {
	e.doc("Delete removes the row with key.")
	code, query, args, _ := e.prepare(e.Delete.Statement, source{key: "key"}, nil)
	body := append([]jen.Code{e.checked(source{key: "key"})}, code...)
	e.changing("Delete", "delete", "", "", nil, append(body, e.run(e.Delete.Outcome, query, args)))
}

// upsert prints Upsert.
func (e *table) upsert() {
	e.doc("Upsert makes row, or changes the row of its key to it. Columns that are left out keep their values.")
	key := []jen.Code{jen.Id("key").Op(":=").Add(e.keyOf("row"))}
	e.changing("Upsert", "upsert", "row", e.GoName+"Row", key, e.upsertBody())
}

func (e *table) upsertBody() []jen.Code {
	body := []jen.Code{e.checked(source{row: "row"})}
	key := jen.Id("key").Op(":=").Add(e.keyOf("row"))
	if e.Upsert.Statement == nil {
		return append(body, e.updateOrInsert(key)...)
	}
	code, query, args, _ := e.prepare(*e.Upsert.Statement, source{row: "row"}, nil)
	body = append(body, code...)
	return append(body, key, e.run(e.Upsert.Outcome, query, args))
}

// updateOrInsert prints an upsert of two statements.
func (e *table) updateOrInsert(key jen.Code) []jen.Code {
	e.used["duplicate"] = true
	e.used["raced"] = true
	var sets []jen.Code
	for _, c := range e.Patched() {
		from := jen.Id("row").Dot(c.GoName)
		switch {
		case c.Optional:
		case c.Null && !c.Type.Nils:
			e.used["setOrNull"] = true
			from = jen.Id("setOrNull").Call(from)
		default:
			from = jen.Qual(fencedbPath, "Set").Call(from)
		}
		sets = append(sets, jen.Line().Id(c.GoName).Op(":").Add(from))
	}
	if len(sets) > 0 {
		sets = append(sets, jen.Line())
	}
	return []jen.Code{
		key,
		jen.Id("patch").Op(":=").Id(e.GoName + "Patch").Values(sets...),
		jen.Var().Err().Error(),
		jen.For(jen.Range().Lit(2)).Block(
			jen.Err().Op("=").Add(w()).Dot("update").Call(jen.Id("ctx"), jen.Id("key"), jen.Id("patch")),
			jen.If(jen.Op("!").Qual("errors", "Is").Call(jen.Err(), jen.Qual(fencedbPath, "ErrNotFound"))).Block(jen.Return(jen.Err())),
			jen.Err().Op("=").Add(w()).Dot("insert").Call(jen.Id("ctx"), jen.Id("row")),
			jen.If(jen.Op("!").Id("duplicate").Call(jen.Err())).Block(jen.Return(jen.Err())),
		),
		jen.Return(jen.Err()),
	}
}

// key prints how a key is shown.
func (e *table) key() {
	var format []string
	var args []jen.Code
	for _, k := range e.Key {
		format = append(format, strings.ReplaceAll(k.Name, "%", "%%")+"=%v")
		args = append(args, jen.Id("key").Dot(k.GoName))
	}
	e.file.Func().Id("text" + e.GoName + "Key").Params(jen.Id("key").Id(e.GoName + "Key")).String().Block(
		jen.Return(jen.Qual("fmt", "Sprintf").Call(append([]jen.Code{jen.Lit(strings.Join(format, " "))}, args...)...)),
	)
}
