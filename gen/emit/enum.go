package emit

import (
	"bytes"
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/fencelint/fence/gen/plan"
)

// enums is the name of the file of a package's enums.
const enums = "enums"

// enumFile prints the types of a package's enums, with a constant for each value.
func enumFile(p *plan.Package) ([]byte, error) {
	e := &table{pkg: p, file: jen.NewFile(p.Name)}
	e.file.HeaderComment(header)
	for _, enum := range p.Enums {
		what := "a value of column " + enum.Name
		if enum.Named {
			what = "a value of the enum " + enum.Name
		}
		e.doc(enum.GoName + " is " + what + ".")
		e.file.Type().Id(enum.GoName).String()
		e.file.Line()
		if len(enum.Labels) == 0 {
			continue
		}
		e.doc("The values of " + enum.GoName + ".")
		var values []jen.Code
		for _, l := range enum.Labels {
			values = append(values, jen.Id(l.GoName).Id(enum.GoName).Op("=").Lit(l.Text))
		}
		e.file.Const().Defs(values...)
		e.file.Line()
	}
	var b bytes.Buffer
	if err := e.file.Render(&b); err != nil {
		return nil, fmt.Errorf("printing the enums: %w", err)
	}
	return format(enums+suffix, b.Bytes())
}
