package plan

import (
	"slices"
	"strings"

	"github.com/fencelint/fence/internal/config"
)

// statements fills in the statements of t. What makes each race safe in its dialect was
// measured; the comments name the race.
func (t *Table) statements(d dialect, runtimeSchema bool) {
	w := writer{d, t, d.column(t.Name)}
	switch {
	case runtimeSchema:
		w.name = SchemaMark + w.name
	case t.Schema != "":
		w.name = d.column(t.Schema) + "." + w.name
	}
	t.Insert = w.insert()
	t.Update = w.update()
	t.Delete = w.delete()
	t.Look = w.look()
	if !t.Insert.MakesKey {
		t.Upsert = w.upsert()
	}
}

type writer struct {
	dialect
	*Table
	name string // quoted
}

func (w writer) start() *builder { return &builder{dialect: w.dialect, s: Statement{Number: w.number}} }

// token is what the fence column is compared with.
func (w writer) token() Arg {
	if w.Ordered {
		return Arg{Value: OfToken}
	}
	return Arg{Value: OfGrant}
}

func of(c *Column) Arg { return Arg{Value: OfColumn, Column: c} }

// compares are the conditions under which w's row may be changed, with their args.
func (w writer) compares(name string) (text string, args []Arg) {
	var conds []string
	if w.Kind == Row {
		args = append(args, w.token())
		fence, token := name+w.column(w.Fence.Name), arg(len(args))
		switch {
		case w.Rule != config.Equal:
			conds = append(conds, fence+" <= "+token)
		case w.Ordered:
			conds = append(conds, fence+" = "+token)
		default:
			conds = append(conds, w.exact(fence, token))
		}
	}
	if w.Resource.inSQL() {
		args = append(args, Arg{Value: OfResource})
		conds = append(conds, w.exact(w.resource(name), arg(len(args))))
	}
	return strings.Join(conds, " AND "), args
}

// resource is the resource of a row as an expression.
func (w writer) resource(name string) string {
	var parts []string
	for _, p := range w.Resource.Parts {
		if p.Column != nil {
			part := name + w.column(p.Column.Name)
			if integer(p.Column.Type) {
				part += w.digits
			}
			parts = append(parts, part)
			continue
		}
		parts = append(parts, w.literal(p.Text))
	}
	if len(parts) == 1 {
		parts = append(parts, w.literal(""))
	}
	return w.concat(parts)
}

// where adds WHERE with the key, and the compares if wanted.
func (w writer) where(add func(text string, args ...Arg), compared bool) {
	var conds []string
	var args []Arg
	for _, k := range w.Key {
		args = append(args, of(k))
		conds = append(conds, w.column(k.Name)+" = "+arg(len(args)))
	}
	text := " WHERE " + strings.Join(conds, " AND ")
	if compared {
		if more, with := w.compares(""); more != "" {
			text += " AND " + renumber(more, len(args))
			args = append(args, with...)
		}
	}
	add(text, args...)
}

// renumber moves the marks of text behind n others.
func renumber(text string, n int) string {
	b := []byte(text)
	for i := 0; i < len(b); i++ {
		if b[i] == mark {
			b[i+1] += byte(n)
			i++
		}
	}
	return string(b)
}

// columns adds the columns of an INSERT, and their values.
func (w writer) columns(b *builder) {
	b.always(" (")
	w.each(func(c *Column) { b.given(c, w.column(c.Name)) }, func(name string, _ Arg) { b.item(w.column(name)) })
	b.always(") VALUES (")
	w.each(func(c *Column) { b.given(c, arg(1), of(c)) }, func(name string, a Arg) {
		if w.Kind == Row && name == w.Fence.Name {
			b.item(w.stored(), a)
			return
		}
		b.item(arg(1), a)
	})
	b.always(")")
}

// each calls optional for the columns that may be left out and fixed for the others, the
// fence last.
func (w writer) each(optional func(*Column), fixed func(name string, a Arg)) {
	for _, c := range w.Columns {
		if c.Optional {
			optional(c)
			continue
		}
		fixed(c.Name, of(c))
	}
	if w.Kind == Row {
		fixed(w.Fence.Name, w.token())
	}
}

// stored is the token as a value of the fence column. Where a trigger compares, it also
// tells it the token, by a setting that ends with the transaction: values are computed
// before the triggers of their row run.
func (w writer) stored() string {
	if w.told() {
		return "set_config('" + TokenSetting + "', " + arg(1) + "::bigint::text, true)::bigint"
	}
	return arg(1)
}

// told tells whether the statements have to tell a trigger the token.
func (w writer) told() bool { return w.Enforced && w.settings }

// insert makes a row. It has nothing to compare: a key that is there is the database's
// error, and under a row guard there is no fence before the row is.
func (w writer) insert() Insert {
	b := w.start()
	b.always("INSERT" + w.orAbort + " INTO " + w.name)
	if len(w.Columns) == 0 && w.Kind == Scope {
		b.always(w.noColumns)
	} else {
		w.columns(b)
	}
	if w.Kind == Scope && len(w.Columns) > 0 && !slices.ContainsFunc(w.Columns, func(c *Column) bool { return !c.Optional }) {
		b.s.Empty = "INSERT" + w.orAbort + " INTO " + w.name + w.noColumns
	}
	var made []*Column
	for _, k := range w.Key {
		if k.Made || k.Optional {
			made = append(made, k)
		}
	}
	i := Insert{MakesKey: len(made) > 0}
	switch {
	case i.MakesKey && w.returning:
		returning := " RETURNING " + strings.Join(w.names(made), ", ")
		b.always(returning)
		if b.s.Empty != "" {
			b.s.Empty += returning
		}
		b.s.Returns = made
	case i.MakesKey:
		i.KeyFromID = true
	}
	i.Statement = b.s
	return i
}

// update changes what a patch gives.
func (w writer) update() Update {
	b := w.start()
	u := Update{Outcome: Counted}
	b.always("UPDATE" + w.orAbort + " " + w.name + " SET ")
	switch {
	case w.Kind == Scope && len(w.Patched()) == 0:
		return u // the key is all there is
	case w.Kind == Scope:
		for _, c := range w.Patched() {
			b.given(c, w.column(c.Name)+" = "+arg(1), of(c))
		}
		w.where(b.always, true)
		if w.lastID {
			u.Outcome = CountedChanges
		}
	case w.lastID:
		// The number of affected rows leaves out those that stay as they are, unless the
		// data source says otherwise. LAST_INSERT_ID tells whether a row was matched, as
		// long as no trigger of the table runs statements of its own.
		u.Outcome = Matched
		for _, c := range w.Patched() {
			b.given(c, w.column(c.Name)+" = "+arg(1), of(c))
		}
		w.markMatched(b)
		w.where(b.always, true)
	default:
		fence := w.column(w.Fence.Name)
		b.item(fence+" = "+w.stored(), w.token())
		for _, c := range w.Patched() {
			b.given(c, w.column(c.Name)+" = "+arg(1), of(c))
		}
		w.where(b.always, true)
	}
	u.Statement = b.s
	return u
}

// markMatched stores the token, and sets the last insert id to other than 0.
func (w writer) markMatched(b *builder) {
	fence := w.column(w.Fence.Name)
	switch {
	case w.Rule != config.Equal:
		b.item(fence+" = LAST_INSERT_ID("+arg(1)+")", w.token())
	case w.Ordered:
		b.item(fence + " = LAST_INSERT_ID(" + fence + ")")
	default:
		b.item(fence + " = IF(LAST_INSERT_ID(1) = 1, " + fence + ", " + fence + ")")
	}
}

// upsert makes a row or changes the one of its key.
func (w writer) upsert() *Upsert {
	if w.lastID {
		// ON DUPLICATE KEY UPDATE takes whichever row has an equal unique key, or an equal
		// beginning of one, and runs the triggers of an update also for a stale holder.
		return &Upsert{}
	}
	b := w.start()
	b.always("INSERT" + w.orAbort + " INTO " + w.name + " AS t")
	w.columns(b)
	b.always(" ON CONFLICT (" + strings.Join(w.names(w.Key), ", ") + ") DO UPDATE SET ")
	if w.Kind == Row {
		// Not excluded's: a trigger may have changed it.
		b.item(w.column(w.Fence.Name)+" = "+w.stored(), w.token())
	} else {
		// So that the list is never empty. It changes nothing.
		key := w.column(w.Key[0].Name)
		b.item(key + " = excluded." + key)
	}
	for _, c := range w.Patched() {
		set := w.column(c.Name) + " = excluded." + w.column(c.Name)
		if c.Optional {
			b.given(c, set)
			continue
		}
		b.item(set)
	}
	if conds, args := w.compares("t."); conds != "" {
		b.always(" WHERE "+conds, args...)
	}
	return &Upsert{Statement: &b.s, Outcome: Counted}
}

// delete removes a row. The number of affected rows is exact in every dialect.
func (w writer) delete() Delete {
	b := w.start()
	b.always("DELETE FROM " + w.name)
	w.where(b.always, true)
	if w.told() {
		b.always(" AND "+w.stored()+" > 0", w.token())
	}
	return Delete{Statement: b.s, Outcome: Counted}
}

// look reads what a statement that changed nothing met, by a read that locks: one that
// does not may show an older state than the statement saw, a row that is gone or a fence
// that has moved.
func (w writer) look() Statement {
	b := w.start()
	var cols []string
	var args []Arg
	for _, l := range w.Looks() {
		switch l {
		case LookedFence:
			cols = append(cols, w.column(w.Fence.Name))
		case LookedResource:
			args = append(args, Arg{Value: OfResource})
			cols = append(cols, w.exact(w.resource(""), arg(len(args))))
		case LookedAny:
			cols = append(cols, "1")
		}
	}
	b.always("SELECT "+strings.Join(cols, ", ")+" FROM "+w.name, args...)
	w.where(b.always, false)
	b.always(w.forUpdate)
	return b.s
}

// TokenSetting is PostgreSQL's setting that tells a trigger the token of the transaction.
const TokenSetting = "fence.token"

func (w writer) names(cs []*Column) []string {
	names := make([]string, len(cs))
	for i, c := range cs {
		names[i] = w.column(c.Name)
	}
	return names
}
