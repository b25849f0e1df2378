// Package script answers one question: what does this Lua script change in
// Redis, and what does it compare before it does?
//
// It reads the constant text of a script that Redis runs (EVAL), in which every
// command is atomic with those around it. Anything it cannot follow counts as a
// comparison, so that a caller who wants to warn stays silent.
package script

import (
	"errors"
	"fmt"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// MaxLen is the longest script that is read, in bytes.
const MaxLen = 64 << 10

// A Write is one command that overwrites or removes.
type Write struct {
	Command string // in capitals
	Key     string // a constant key, or KEYS[n], or "" if it is made up otherwise
	Line    int    // in the script, from 1
	Remove  bool
	// Args are the arguments (ARGV, from 1) that what is stored is compared with
	// before the write runs, or that select the member it removes. The write
	// compares ownership if one of them is an owner's or a token.
	Args []int
	// Compared: the write runs only after something else was compared that may
	// decide about ownership: a state, the absence of a key, a value not followed.
	Compared bool
}

// Parse returns the writes of a script in the order of the text. A script that is
// too long, does not parse, or calls commands that are not constants is an error.
func Parse(text string) ([]Write, error) {
	if len(text) > MaxLen {
		return nil, fmt.Errorf("script of %d bytes: longer than %d", len(text), MaxLen)
	}
	if nesting(text) > maxNesting {
		return nil, errors.New("script is nested too deeply")
	}
	chunk, err := parse.Parse(strings.NewReader(text), "script")
	if err != nil {
		return nil, fmt.Errorf("parsing the script: %w", err)
	}
	r := &reader{vars: map[string]origin{}}
	r.block(chunk, guard{})
	if r.dynamic {
		return nil, errors.New("script calls a command that is not constant")
	}
	return r.writes, nil
}

const maxNesting = 200

// nesting is a bound on how deeply expressions and blocks can be nested.
func nesting(text string) int {
	return max(strings.Count(text, "("), strings.Count(text, "{"), strings.Count(text, "end"))
}

// guard is what has been compared on the way to a statement.
type guard struct {
	args  []int
	other bool
}

func (g guard) and(o guard) guard {
	return guard{append(append([]int(nil), g.args...), o.args...), g.other || o.other}
}

// origin is where the value of an expression comes from.
type origin struct {
	stored  bool  // Redis, as it was before the script or as a reply tells
	args    []int // elements of ARGV
	literal bool  // nothing but constants
	keys    []int // elements of KEYS
}

func (o origin) with(p origin) origin {
	return origin{
		stored: o.stored || p.stored, literal: o.literal && p.literal,
		args: append(append([]int(nil), o.args...), p.args...),
		keys: append(append([]int(nil), o.keys...), p.keys...),
	}
}

type reader struct {
	vars    map[string]origin
	writes  []Write
	dynamic bool
}

// block reads statements in order. It tells whether they always leave the script,
// and what they compared on the way.
func (r *reader) block(stmts []ast.Stmt, g guard) (leaves bool) {
	for _, s := range stmts {
		var more guard
		leaves, more = r.stmt(s, g)
		if leaves {
			return true
		}
		g = g.and(more)
	}
	return false
}

// stmt reads one statement under g. leaves: it always ends the script or the loop;
// after: what is known to have been compared where it goes on.
func (r *reader) stmt(s ast.Stmt, g guard) (leaves bool, after guard) {
	switch s := s.(type) {
	case *ast.LocalAssignStmt:
		for i, e := range s.Exprs {
			o, _ := r.expr(e, g)
			if i < len(s.Names) {
				r.vars[s.Names[i]] = o
			}
		}
		if n := len(s.Exprs); n > 0 && n < len(s.Names) {
			o, _ := r.expr(s.Exprs[n-1], guard{other: true})
			for _, name := range s.Names[n:] {
				r.vars[name] = o
			}
		}
	case *ast.AssignStmt:
		for i, e := range s.Rhs {
			o, _ := r.expr(e, g)
			if i < len(s.Lhs) {
				r.assign(s.Lhs[i], o)
			}
		}
	case *ast.FuncCallStmt:
		r.expr(s.Expr, g)
	case *ast.DoBlockStmt:
		return r.block(s.Stmts, g), guard{}
	case *ast.WhileStmt:
		r.block(s.Stmts, g.and(truth(r.expr(s.Condition, g))))
	case *ast.RepeatStmt:
		r.block(s.Stmts, g)
		r.expr(s.Condition, g)
	case *ast.IfStmt:
		return r.branch(s, g)
	case *ast.NumberForStmt:
		o, _ := r.expr(s.Limit, g)
		r.vars[s.Name] = o
		r.block(s.Stmts, g)
	case *ast.GenericForStmt:
		var o origin
		for _, e := range s.Exprs {
			p, _ := r.expr(e, g)
			o = o.with(p)
		}
		for _, n := range s.Names {
			r.vars[n] = o
		}
		if o.stored {
			g.other = true // what is stored selects what is written
		}
		r.block(s.Stmts, g)
	case *ast.FuncDefStmt:
		r.block(s.Func.Stmts, guard{other: true}) // who calls it is not followed
	case *ast.ReturnStmt:
		for _, e := range s.Exprs {
			r.expr(e, g)
		}
		return true, guard{}
	case *ast.BreakStmt, *ast.GotoStmt:
		return true, guard{}
	}
	return false, guard{}
}

// branch: inside both arms the condition has been compared; after it only if one
// of them leaves.
func (r *reader) branch(s *ast.IfStmt, g guard) (leaves bool, after guard) {
	c := truth(r.expr(s.Condition, g))
	then := r.block(s.Then, g.and(c))
	other := r.block(s.Else, g.and(c))
	switch {
	case then && other:
		return true, guard{}
	case then || other:
		return false, c
	}
	return false, guard{}
}

func (r *reader) assign(lhs ast.Expr, o origin) {
	switch l := lhs.(type) {
	case *ast.IdentExpr:
		r.vars[l.Value] = o
	case *ast.AttrGetExpr:
		if id, ok := l.Object.(*ast.IdentExpr); ok {
			r.vars[id.Value] = r.vars[id.Value].with(o)
		}
	}
}

// expr reads an expression under g: where its value comes from, and what it
// compares. Writes in it are noted.
func (r *reader) expr(e ast.Expr, g guard) (origin, guard) {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return r.vars[e.Value], guard{}
	case *ast.AttrGetExpr:
		if id, ok := e.Object.(*ast.IdentExpr); ok {
			n := index(e.Key)
			switch {
			case id.Value == "ARGV" && n > 0:
				return origin{args: []int{n}}, guard{}
			case id.Value == "KEYS" && n > 0:
				return origin{keys: []int{n}}, guard{}
			}
		}
		o, c := r.expr(e.Object, g)
		k, d := r.expr(e.Key, g)
		o.literal = o.literal && k.literal
		return o, c.and(d)
	case *ast.FuncCallExpr:
		return r.call(e, g)
	case *ast.LogicalOpExpr:
		o, c := r.expr(e.Lhs, g)
		p, d := r.expr(e.Rhs, g.and(c))
		return o.with(p), truth(o, c).and(truth(p, d))
	case *ast.RelationalOpExpr:
		o, c := r.expr(e.Lhs, g)
		p, d := r.expr(e.Rhs, g)
		return o.with(p), c.and(d).and(related(o, p))
	case *ast.StringConcatOpExpr:
		return r.both(e.Lhs, e.Rhs, g)
	case *ast.ArithmeticOpExpr:
		return r.both(e.Lhs, e.Rhs, g)
	case *ast.UnaryMinusOpExpr:
		return r.expr(e.Expr, g)
	case *ast.UnaryNotOpExpr:
		o, c := r.expr(e.Expr, g)
		return o, truth(o, c)
	case *ast.UnaryLenOpExpr:
		return r.expr(e.Expr, g)
	case *ast.TableExpr:
		var o origin
		for _, f := range e.Fields {
			p, _ := r.expr(f.Value, g)
			o = o.with(p)
		}
		return o, guard{}
	case *ast.FunctionExpr:
		r.block(e.Stmts, guard{other: true})
		return origin{}, guard{}
	case ast.ConstExpr:
		return origin{literal: true}, guard{}
	}
	return origin{}, guard{}
}

func (r *reader) both(a, b ast.Expr, g guard) (origin, guard) {
	o, c := r.expr(a, g)
	p, d := r.expr(b, g)
	return o.with(p), c.and(d)
}

// truth: a value used as a condition. What is stored is tested for being there.
func truth(o origin, c guard) guard {
	if o.stored && len(c.args) == 0 {
		c.other = true
	}
	return c
}

// related is what a comparison of two values compares: something stored with an
// argument, or with anything else; arguments with constants compare nothing.
func related(o, p origin) guard {
	if !o.stored && !p.stored {
		return guard{}
	}
	args := append(append([]int(nil), o.args...), p.args...)
	return guard{args: args, other: len(args) == 0}
}

// index returns n of ARGV[n], 0 if it is not a constant.
func index(e ast.Expr) int {
	num, ok := e.(*ast.NumberExpr)
	if !ok {
		return 0
	}
	n := 0
	if _, err := fmt.Sscanf(num.Value, "%d", &n); err != nil {
		return 0
	}
	return n
}

// transparent are functions whose result says what their argument says.
var transparent = map[string]bool{
	"tonumber": true, "tostring": true, "ipairs": true, "pairs": true, "unpack": true, "next": true, "type": true, "select": true,
}

func (r *reader) call(e *ast.FuncCallExpr, g guard) (origin, guard) {
	if command(e) {
		return r.redis(e, g)
	}
	var o origin
	for _, a := range e.Args {
		p, _ := r.expr(a, g)
		o = o.with(p)
	}
	if e.Receiver != nil {
		p, _ := r.expr(e.Receiver, g)
		o = o.with(p)
	}
	o.literal = false
	if id, ok := e.Func.(*ast.IdentExpr); ok && !transparent[id.Value] {
		o.stored = true // a function of the script: what it returns is not followed
	}
	return o, guard{}
}

// command tells whether a call is redis.call or redis.pcall (server.call in
// Valkey).
func command(e *ast.FuncCallExpr) bool {
	get, ok := e.Func.(*ast.AttrGetExpr)
	if !ok {
		return false
	}
	obj, ok := get.Object.(*ast.IdentExpr)
	name, isString := get.Key.(*ast.StringExpr)
	return ok && isString && (obj.Value == "redis" || obj.Value == "server") && (name.Value == "call" || name.Value == "pcall")
}

// redis reads one command.
func (r *reader) redis(e *ast.FuncCallExpr, g guard) (origin, guard) {
	var args []origin
	for i, a := range e.Args {
		o, _ := r.expr(a, g)
		if i > 0 {
			args = append(args, o)
		}
	}
	reply := origin{stored: true}
	if len(e.Args) == 0 {
		return reply, guard{}
	}
	name, ok := e.Args[0].(*ast.StringExpr)
	if !ok {
		r.dynamic = true
		return reply, guard{}
	}
	cmd, known := commands[strings.ToUpper(name.Value)]
	if !known {
		return reply, guard{}
	}
	w := Write{Command: strings.ToUpper(name.Value), Line: e.Line(), Remove: cmd.remove, Args: g.args, Compared: g.other}
	if len(e.Args) > 1 {
		w.Key = keyOf(e.Args[1], args[0])
		if args[0].stored {
			w.Compared = true // the key was read from Redis just before
		}
	}
	for _, a := range e.Args[1:] {
		if s, ok := a.(*ast.StringExpr); ok && conditions[strings.ToUpper(s.Value)] {
			w.Compared = true // SET ... NX
		}
	}
	if cmd.member > 0 && cmd.member < len(e.Args) {
		m := args[cmd.member-1]
		switch {
		case m.stored:
			w.Compared = true
		case len(m.args) > 0:
			w.Args = append(append([]int(nil), w.Args...), m.args...)
			reply.args = m.args
		case !m.literal:
			w.Compared = true
		}
	}
	r.writes = append(r.writes, w)
	return reply, guard{}
}

func keyOf(e ast.Expr, o origin) string {
	if s, ok := e.(*ast.StringExpr); ok {
		return s.Value
	}
	if _, ok := e.(*ast.AttrGetExpr); ok && len(o.keys) == 1 {
		return fmt.Sprintf("KEYS[%d]", o.keys[0])
	}
	return ""
}

// conditions are options that make a command write only if a key, a field or a
// score is there or is not.
var conditions = map[string]bool{"NX": true, "XX": true, "GT": true, "LT": true, "IFEQ": true}

// commands are those that overwrite or remove; member says which argument (the
// key is 1) selects a member that only its owner may know. Source: the Redis
// command reference.
var commands = map[string]struct {
	remove bool
	member int
}{
	"SET": {}, "SETEX": {}, "PSETEX": {}, "GETSET": {}, "MSET": {}, "SETRANGE": {},
	"HSET": {}, "HMSET": {}, "LSET": {}, "ZADD": {}, "RENAME": {}, "JSON.SET": {}, "COPY": {},
	"DEL": {remove: true}, "UNLINK": {remove: true}, "GETDEL": {remove: true}, "LTRIM": {remove: true},
	"HDEL": {remove: true, member: 2}, "SREM": {remove: true, member: 2}, "ZREM": {remove: true, member: 2},
	"LREM": {remove: true, member: 3}, "SMOVE": {remove: true, member: 3},
}
