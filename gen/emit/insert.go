package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/fencelint/fence/gen/plan"
	"github.com/fencelint/fence/internal/config"
)

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
