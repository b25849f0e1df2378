package emit

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/fencelint/fence/gen/plan"
)

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
