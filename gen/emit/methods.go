package emit

import (
	"slices"
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

// source is where the values of a statement's args come from.
type source struct {
	key   string // a variable of the key's type; empty: the key is in row
	row   string // a variable of the row's type
	patch string // a variable of the patch's type
}

// value is what is bound to an arg.
func (s source) value(a plan.Arg) jen.Code {
	switch a.Value {
	case plan.OfToken:
		return w().Dot("value")
	case plan.OfGrant:
		return w().Dot("token").Dot("Grant").Call()
	case plan.OfResource:
		return w().Dot("token").Dot("Resource").Call()
	}
	if a.Column.Key && s.key != "" {
		return sent(a.Column, jen.Id(s.key).Dot(a.Column.GoName))
	}
	return sent(a.Column, jen.Id(s.row).Dot(a.Column.GoName))
}

// sent is what is sent for a value of a column.
func sent(c *plan.Column, value *jen.Statement) *jen.Statement {
	if c.Type.Bind == "" {
		return value
	}
	return jen.Id(string(c.Type.Bind)).Call(value)
}

// given is the change of a column that may be left out.
func (s source) given(c *plan.Column) *jen.Statement {
	if s.patch != "" {
		return jen.Id(s.patch).Dot(c.GoName)
	}
	return jen.Id(s.row).Dot(c.GoName)
}

// prepare prints what makes a statement, and returns it and its args as expressions: one
// slice, or the last arguments of a call. none is done if no column is given that may be
// left out.
func (e *table) prepare(s plan.Statement, from source, none []jen.Code) (code []jen.Code, query, args jen.Code, spread []jen.Code) {
	first := make([]jen.Code, 0, len(s.First))
	for _, a := range s.First {
		first = append(first, from.value(a))
	}
	length, dynamic := 0, false
	count := len(s.First)
	for _, seg := range s.Segments {
		length += len(seg.Text) + 4
		count += len(seg.Args)
		dynamic = dynamic || seg.If != nil
	}
	if !dynamic {
		text := ""
		for _, seg := range s.Segments {
			text += seg.Text
			for _, a := range seg.Args {
				first = append(first, from.value(a))
			}
		}
		return nil, e.in(sqlLit(text)), jen.Index().Any().Values(first...), first
	}
	if s.Number != "" {
		e.used["number"] = true
	} else {
		e.used["question"] = true
	}
	head := s.Segments[0]
	for _, a := range head.Args {
		first = append(first, from.value(a))
	}
	code = append(code,
		jen.Id("text").Op(":=").Append(jen.Make(jen.Index().Byte(), jen.Lit(0), jen.Lit(length)), sqlLit(head.Text).Op("...")),
		jen.Id("args").Op(":=").Add(appendTo(jen.Make(jen.Index().Any(), jen.Lit(0), jen.Lit(count)), first)),
	)
	bound := len(first)
	for _, seg := range s.Segments[1:] {
		values := make([]jen.Code, 0, len(seg.Args))
		for _, a := range seg.Args {
			if seg.If != nil && a.Value == plan.OfColumn && a.Column == seg.If {
				values = append(values, sent(seg.If, jen.Id("v")))
				continue
			}
			values = append(values, from.value(a))
		}
		if seg.If == nil {
			bound += len(seg.Args)
		}
		code = append(code, segment(seg, from, values)...)
	}
	if none != nil {
		code = append(code, jen.If(jen.Len(jen.Id("args")).Op("==").Lit(bound)).Block(none...))
	}
	query = jen.String().Call(jen.Id("text"))
	return code, e.in(query), jen.Id("args"), []jen.Code{jen.Id("args").Op("...")}
}

// in puts the schema into a statement, where it is chosen at run time.
func (e *table) in(query jen.Code) jen.Code {
	if e.pkg.RuntimeSchema {
		return w().Dot("inSchema").Call(query)
	}
	return query
}

// appendTo is append of values, if there are any.
func appendTo(slice jen.Code, values []jen.Code) jen.Code {
	if len(values) == 0 {
		return slice
	}
	return jen.Append(append([]jen.Code{slice}, values...)...)
}

// segment prints one segment after the first.
func segment(seg plan.Segment, from source, values []jen.Code) []jen.Code {
	text, args := jen.Id("text"), jen.Id("args")
	item := jen.List(text, args).Op("=").Id("item").Call(append([]jen.Code{text, args, sqlLit(seg.Text)}, values...)...)
	switch {
	case seg.If != nil && len(values) > 0:
		return []jen.Code{jen.If(jen.List(jen.Id("v"), jen.Id("ok")).Op(":=").Add(from.given(seg.If)).Dot("Arg").Call(), jen.Id("ok")).Block(item)}
	case seg.If != nil:
		return []jen.Code{jen.If(jen.Op("!").Add(from.given(seg.If)).Dot("IsZero").Call()).Block(item)}
	case seg.InList:
		return []jen.Code{item}
	}
	code := []jen.Code{text.Clone().Op("=").Append(text, sqlLit(seg.Text).Op("..."))}
	if len(values) > 0 {
		code = append(code, args.Clone().Op("=").Append(append([]jen.Code{args}, values...)...))
	}
	return code
}

// sqlLit is SQL as a Go constant: between back-quotes, unless it has some itself.
func sqlLit(text string) *jen.Statement {
	if strings.Contains(text, "`") || !strings.Contains(text, `"`) {
		return jen.Lit(text)
	}
	return jen.Op("`" + text + "`")
}

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

// insert prints Insert.
func (e *table) insert() {
	name := e.GoName
	result, fail := jen.Error(), []jen.Code{}
	if e.Insert.MakesKey {
		result, fail = jen.Params(jen.Id(name+"Key"), jen.Error()), []jen.Code{jen.Id("key")}
	}
	made := ""
	if e.Insert.MakesKey {
		made = " It returns the key of the row, which the database may have made."
	}
	e.doc("Insert makes a row of table "+e.Name+"."+made+" That there is such a row already is the database's error, and changes nothing.",
		e.insertDoc())
	from := source{row: "row"}
	if e.Insert.MakesKey {
		e.method("Insert").Params(ctx, jen.Id("row").Id(name+"Row")).Add(result).Block(
			jen.List(jen.Id("key"), jen.Err()).Op(":=").Add(w()).Dot("insert").Call(jen.Id("ctx"), jen.Id("row")),
			e.tell("insert", jen.Id("key").Op(",").Err()),
		)
	} else {
		e.method("Insert").Params(ctx, jen.Id("row").Id(name+"Row")).Add(result).Block(
			jen.Err().Op(":=").Add(w()).Dot("insert").Call(jen.Id("ctx"), jen.Id("row")),
			jen.Id("key").Op(":=").Add(e.keyOf("row")),
			e.tell("insert", jen.Err()),
		)
	}
	e.file.Line()

	body := []jen.Code{}
	if e.Insert.MakesKey {
		result = jen.Params(jen.Id("key").Id(name+"Key"), jen.Id("_").Error())
	}
	body = append(body, e.checked(from, fail...))
	var none []jen.Code
	if e.Insert.Empty != "" {
		none = []jen.Code{jen.Id("text").Op("=").Append(jen.Id("text").Index(jen.Op(":").Lit(0)), sqlLit(e.Insert.Empty).Op("..."))}
	}
	code, query, all, args := e.prepare(e.Insert.Statement, from, none)
	body = append(body, code...)
	if e.Insert.MakesKey {
		body = append(body, e.send(append([]jen.Code{jen.Id("ctx"), query}, args...))...)
	} else {
		e.used["kept"] = true
		body = append(body, jen.Return(w().Dot("kept").Call(jen.Id("ctx"), query, all)))
	}
	e.method("insert").Params(ctx, jen.Id("row").Id(name+"Row")).Add(result).Block(body...)
	e.file.Line()
}

func (e *table) insertDoc() string {
	switch {
	case e.Kind == plan.Row && e.Rule == config.Equal:
		return "The row gets the token that it will be compared with."
	case e.Kind == plan.Row:
		return "There is no row to compare the token with: an insert of a stale holder is accepted if no row has the key."
	}
	return ""
}

// send prints what runs an insert whose key the database makes.
func (e *table) send(call []jen.Code) []jen.Code {
	exec := jen.Add(w()).Dot("db").Dot(e.driver.exec).Call(call...)
	switch {
	case e.Insert.KeyFromID:
		k := e.Key[0]
		var body []jen.Code
		body = append(body,
			jen.List(jen.Id("res"), jen.Err()).Op(":=").Add(exec),
			jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Id("key"), jen.Err())),
			jen.List(jen.Id("id"), jen.Err()).Op(":=").Id("res").Dot("LastInsertId").Call(),
			jen.Id("key").Dot(k.GoName).Op("=").Add(goType(k.Type)).Call(jen.Id("id")),
			jen.Return(jen.Id("key"), jen.Err()),
		)
		return body
	}
	var dest []jen.Code
	for _, k := range e.Insert.Returns {
		dest = append(dest, jen.Op("&").Id("key").Dot(k.GoName))
	}
	if e.driver.texts && slices.ContainsFunc(e.Insert.Returns, func(k *plan.Column) bool { return k.Type.Name == "string" }) {
		// Of some types it reads no text from what it asks for by itself.
		e.used["texts"] = true
		call = append(call[:2], jen.Id("texts").Call(append([]jen.Code{jen.Lit(len(dest))}, call[2:]...)...).Op("..."))
	}
	var code []jen.Code
	for _, k := range e.Key {
		if !slices.Contains(e.Insert.Returns, k) {
			code = append(code, jen.Id("key").Dot(k.GoName).Op("=").Id("row").Dot(k.GoName))
		}
	}
	return append(code,
		jen.Err().Op(":=").Add(w()).Dot("db").Dot(e.driver.queryRow).Call(call...).Dot("Scan").Call(dest...),
		jen.Return(jen.Id("key"), jen.Err()),
	)
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

// batches prints the operations on many rows.
func (e *table) batches() {
	e.used[e.driver.batch] = true
	type op struct{ name, item, typ string }
	ops := []op{{"Update", "change", e.GoName + "Change"}, {"Upsert", "row", e.GoName + "Row"}, {"Delete", "key", e.GoName + "Key"}}
	for _, o := range ops {
		if o.name == "Upsert" && e.Upsert == nil {
			continue
		}
		call := []jen.Code{jen.Id("ctx"), jen.Id(o.item)}
		if o.name == "Update" {
			call = []jen.Code{jen.Id("ctx"), jen.Id("change").Dot("Key"), jen.Id("change").Dot("Patch")}
		}
		plural := o.item + "s"
		doc, body := oneByOne, e.oneByOne
		if e.driver.queues {
			doc, body = together, e.together
		}
		e.doc(o.name + "Batch is " + o.name + " for each of " + plural + ", in order, with one outcome for each: nil, or why its row was not changed. " + doc)
		e.method(o.name+"Batch").Params(ctx, jen.Id(plural).Index().Id(o.typ)).Params(jen.Id("outcomes").Index().Error(), jen.Id("_").Error()).
			Block(body(o.name, o.item, o.typ, call)...)
		e.file.Line()
	}
}

// oneByOne is the doc of batches whose statements are sent one by one.
const oneByOne = "An error of the database ends it; what came before keeps its outcome, and is undone if the transaction is."

func (e *table) oneByOne(name, item, typ string, call []jen.Code) []jen.Code {
	return []jen.Code{
		jen.Return(jen.Id("batch").Call(jen.Id(item+"s"), jen.Func().Params(jen.Id(item).Id(typ)).Error().Block(
			jen.Return(w().Dot(name).Call(call...)),
		))),
	}
}

// together is the doc of batches whose statements are sent together.
const together = "They are sent together, and are one transaction where there is none: an error of the database, without outcomes, undoes all of them. One beside outcomes only kept it from telling why a row was not changed."

func (e *table) together(name, item, _ string, call []jen.Code) []jen.Code {
	items, operation := item+"s", strings.ToLower(name)
	key := jen.Id(items).Index(jen.Id("n"))
	switch item {
	case "change":
		key = key.Dot("Key")
	case "row":
		key = e.keyOf(items + "[n]")
	}
	return []jen.Code{
		jen.Id("q").Op(":=").Op("&").Id(e.typ).Values(w().Dot("queued").Call(jen.Len(jen.Id(items)))),
		jen.For(jen.List(jen.Id("_"), jen.Id(item)).Op(":=").Range().Id(items)).Block(
			jen.Id("q").Dot("queue").Dot("add").Call(jen.Id("q").Dot(operation).Call(call...)),
		),
		jen.Return(jen.Id("q").Dot("send").Call(jen.Id("ctx"), jen.Lit(operation), jen.Lit(e.Name),
			jen.Func().Params(jen.Id("n").Int()).String().Block(jen.Return(jen.Id("text"+e.GoName+"Key").Call(key))))),
	}
}

// look prints the look at the row of a key.
func (e *table) look() {
	e.used["found"] = true
	e.file.Comment("// look tells why a statement changed no row: nil if it could have.")
	_, query, _, args := e.prepare(e.Look, source{key: "key"}, nil)
	var vars, dest, judge []jen.Code
	for _, l := range e.Looks() {
		switch l {
		case plan.LookedFence:
			vars, dest = append(vars, jen.Var().Id("fence").Add(e.fenceType())), append(dest, jen.Op("&").Id("fence"))
			judge = append(judge, e.judgeFence()...)
		case plan.LookedResource:
			e.used["ofResource"] = true
			vars, dest = append(vars, jen.Var().Id("same").Bool()), append(dest, jen.Op("&").Id("same"))
			check := jen.Id("err").Op(":=").Add(w()).Dot("ofResource").Call(jen.Id("same"))
			judge = append([]jen.Code{jen.If(check, jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err()))}, judge...)
		case plan.LookedAny:
			vars, dest = append(vars, jen.Var().Id("one").Int()), append(dest, jen.Op("&").Id("one"))
		}
	}
	if e.Kind == plan.Scope {
		judge = append(judge, jen.Return(jen.Nil()))
	}
	read := jen.If(
		jen.Err().Op(":=").Add(w()).Dot("db").Dot(e.driver.queryRow).Call(append([]jen.Code{jen.Id("ctx"), query}, args...)...).Dot("Scan").Call(dest...),
		jen.Err().Op("!=").Nil(),
	).Block(jen.Return(jen.Id("found").Call(jen.Err())))
	e.method("look").Params(ctx, jen.Id("key").Id(e.GoName+"Key")).Error().Block(slices.Concat(vars, []jen.Code{read}, judge)...)
	e.file.Line()
}

// fenceType is what the fence is read into.
func (e *table) fenceType() *jen.Statement {
	typ := jen.String()
	switch {
	case e.unsigned():
		typ = jen.Uint64()
	case e.Ordered:
		typ = jen.Int64()
	}
	if e.Fence.Null {
		return jen.Qual("database/sql", "Null").Types(typ)
	}
	return typ
}

// unsigned tells whether the fence may be larger than any token.
func (e *table) unsigned() bool { return e.Ordered && strings.HasPrefix(e.Fence.Type.Name, "uint") }

// judgeFence prints what the fence that was read says of the token.
func (e *table) judgeFence() []jen.Code {
	var code []jen.Code
	fence := jen.Id("fence")
	if e.Fence.Null {
		e.used["unclaimed"] = true
		code = append(code, jen.If(jen.Op("!").Id("fence").Dot("Valid")).Block(jen.Return(w().Dot("unclaimed").Call())))
		fence = jen.Id("fence").Dot("V")
	}
	if e.unsigned() {
		e.used["stale"] = true
		code = append(code, jen.If(fence.Clone().Op(">").Lit(1).Op("<<").Lit(63).Op("-").Lit(1)).Block(jen.Return(w().Dot("stale").Call(jen.Lit(0)))))
		fence = jen.Int64().Call(fence)
	}
	return append(code, jen.Return(w().Dot(e.compare()).Call(fence)))
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
