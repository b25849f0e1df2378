package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/fencelint/fence/gen/plan"
)

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
