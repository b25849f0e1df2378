package sqltext

// This file reads the texts that calls return: of well-known functions, of this package's
// own and of those that summaries tell of.

import (
	"go/constant"
	"go/types"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/go/ssa"

	"github.com/fencelint/fence/analyzers/internal/ir"
	"github.com/fencelint/fence/analyzers/internal/origin"
)

// A builder turns the arguments of a well-known call into texts.
type builder func(e *eval, c *ssa.Call, fr *frames, depth int) []string

func builders() map[string]builder {
	return map[string]builder{
		"fmt.Sprintf":        (*eval).sprintf,
		"fmt.Sprint":         (*eval).sprint,
		"strings.Join":       (*eval).join,
		"path.Join":          (*eval).joinPath,
		"path/filepath.Join": (*eval).joinPath,
		"strings.TrimSpace":  mapped(strings.TrimSpace),
		"strings.ToUpper":    mapped(strings.ToUpper),
		"strings.ToLower":    mapped(strings.ToLower),
		"strings.Replace":    (*eval).replace,
		"strings.ReplaceAll": (*eval).replace,
		"strings.Clone":      same,

		"github.com/redis/go-redis/v9.NewScript":  same,
		"github.com/aws/aws-sdk-go-v2/aws.String": same,

		"(*strings.Builder).String": (*eval).built,
		"(*bytes.Buffer).String":    (*eval).built,

		"(*regexp.Regexp).ReplaceAllString":     (*eval).respaced,
		"(*regexp.Regexp).ReplaceAllStringFunc": (*eval).renumbered,
		"github.com/jmoiron/sqlx.Rebind":        (*eval).second,
		"github.com/jmoiron/sqlx.In":            same,

		"interface.Rebind(string)":             same,
		"(*github.com/jmoiron/sqlx.DB).Rebind": (*eval).second,
		"(*github.com/jmoiron/sqlx.Tx).Rebind": (*eval).second,
	}
}

// builderName is the name by which builders knows a call: the function's full name, or
// for a method of a program's own interface its name and parameters, since programs
// declare the methods of well-known libraries so.
func builderName(c *ssa.CallCommon, obj *types.Func) string {
	if !c.IsInvoke() {
		return obj.FullName()
	}
	var params []string
	for p := range obj.Type().(*types.Signature).Params().Variables() {
		params = append(params, types.TypeString(p.Type(), nil))
	}
	return "interface." + obj.Name() + "(" + strings.Join(params, ", ") + ")"
}

// respaced is the text that a pattern is replaced in, if what comes in its place is
// blank or a placeholder, which change nothing about what a statement does.
func (e *eval) respaced(c *ssa.Call, fr *frames, depth int) []string {
	if len(c.Call.Args) < 3 {
		return unknown
	}
	k, ok := c.Call.Args[2].(*ssa.Const)
	if !ok || k.Value == nil || k.Value.Kind() != constant.String || strings.Trim(constant.StringVal(k.Value), " \t\n?$0123456789{}") != "" {
		return unknown
	}
	return e.value(c.Call.Args[1], fr, depth)
}

// placeholders are patterns that match nothing but placeholders: \? or \$[0-9]+.
var placeholders = regexp.MustCompile(`^(\|?\\[?$](\(?(\\d|\[0-9\])\+\)?)?)+$`)

// renumbered is the text in which a function writes the placeholders anew.
func (e *eval) renumbered(c *ssa.Call, fr *frames, depth int) []string {
	re, ok := c.Call.Args[0].(*ssa.Call)
	if !ok {
		if ld, isLoad := c.Call.Args[0].(*ssa.UnOp); isLoad {
			if st := e.onlyStore(ld); st != nil {
				re, ok = st.Val.(*ssa.Call)
			}
		}
	}
	if !ok || len(re.Call.Args) != 1 || ir.Object(&re.Call) == nil || ir.Object(&re.Call).FullName() != "regexp.MustCompile" {
		return unknown
	}
	if p := e.value(re.Call.Args[0], nil, depth); len(p) != 1 || !placeholders.MatchString(p[0]) {
		return unknown
	}
	return e.value(c.Call.Args[1], fr, depth)
}

// same is the text of the first argument, unchanged.
var same = mapped(func(s string) string { return s })

func mapped(f func(string) string) builder {
	return func(e *eval, c *ssa.Call, fr *frames, depth int) []string {
		in := e.value(c.Call.Args[0], fr, depth)
		out := make([]string, len(in))
		for i, s := range in {
			out[i] = f(s)
		}
		return out
	}
}

// rendered puts the arguments of c in the place of the marks of texts.
func (e *eval) rendered(texts []string, c *ssa.Call, fr *frames, depth int) []string {
	shift := 0
	if ir.Object(&c.Call).Type().(*types.Signature).Recv() != nil {
		shift = 1
	}
	var out []string
	for _, t := range texts {
		parts := []string{""}
		for {
			at := strings.IndexFunc(t, func(r rune) bool { return r >= marks && r < marks+maxMarks })
			if at < 0 {
				break
			}
			mark, size := utf8.DecodeRuneInString(t[at:])
			arg := unknown
			if a := origin.Arg(&c.Call, int(mark-marks)+shift); a != nil {
				arg = e.value(a, fr, depth)
			}
			parts = cross(cross(parts, []string{t[:at]}), arg)
			t = t[at+size:]
		}
		out = e.union(out, cross(parts, []string{t}))
	}
	return out
}

func (e *eval) second(c *ssa.Call, fr *frames, depth int) []string {
	if len(c.Call.Args) < 2 {
		return unknown
	}
	return e.value(c.Call.Args[1], fr, depth)
}

func (e *eval) call(c *ssa.Call, i int, fr *frames, depth int) []string {
	obj := ir.Object(&c.Call)
	if obj == nil {
		return unknown
	}
	if e.r.Built != nil && i == 0 {
		if ts, ok := e.r.Built(c); ok {
			return ts
		}
	}
	if b, ok := e.r.builders[builderName(&c.Call, obj)]; ok && i == 0 {
		return b(e, c, fr, depth)
	}
	callee := ir.Callee(&c.Call)
	if callee == nil {
		callee = e.implementation(&c.Call)
	}
	if callee == nil || callee.Pkg != e.r.Pkg.SSA || callee.Blocks == nil {
		if stmt := preparedText(c); stmt != nil && i == 0 {
			return e.value(stmt, fr, depth)
		}
		if e.r.Returns != nil && i == 0 {
			if out := e.r.Returns(obj); len(out) > 0 {
				return e.rendered(out, c, fr, depth)
			}
		}
		return unknown
	}
	for f := fr; f != nil; f = f.up {
		if f.fn == callee {
			return unknown
		}
	}
	in := &frames{call: c, fn: callee, up: fr}
	var out []string
	for _, r := range ir.Results(callee, i) {
		if !noStatement(r) {
			out = e.union(out, e.value(r, in, depth))
		}
	}
	if out == nil {
		return unknown
	}
	return out
}

// implementation returns what a call of an interface method runs on the way that is
// followed.
func (e *eval) implementation(c *ssa.CallCommon) *ssa.Function {
	fns := e.r.Pkg.Implementations(c)
	if len(fns) == 0 {
		return nil
	}
	e.ways = max(e.ways, len(fns))
	return fns[min(e.way, len(fns)-1)]
}
