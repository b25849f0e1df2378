package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"
)

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
