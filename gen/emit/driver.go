package emit

import (
	"maps"

	"github.com/dave/jennifer/jen"

	"github.com/fencelint/fence/gen/plan"
)

// A driver is what generated code differs in by what it talks to.
type driver struct {
	exec, queryRow string         // methods that send a statement
	execer         *jen.Statement // the type of what row writers write to
	targets        string         // types that are one
	// fragments are needed by every package, scoped by one that has a scope, batch by
	// every package's batches.
	fragments     []string
	scoped, batch string
	queues        bool              // batches are sent together
	texts         bool              // texts have to be asked for
	words         map[string]string // of the supporting texts
	// Of generated tests: what is on in their texts, the type of a database, and what
	// comes before a statement outside of a test's own time.
	on             map[string]bool
	db, background string
}

// goDrivers are the drivers, by their names in fence.yaml.
var goDrivers = map[string]driver{
	"database/sql": {
		exec: "ExecContext", queryRow: "QueryRowContext",
		execer: jen.Qual(fencedbPath, "Execer"), targets: "a *sql.DB, *sql.Tx or *sql.Conn",
		batch: "batch", db: "*sql.DB",
		words: map[string]string{
			"@EXECER": "fencedb.Execer", "@BEGINNER": "fencedb.Beginner", "@TX": "*sql.Tx", "@NOROWS": "sql.ErrNoRows",
		},
	},
	pgx: {
		exec: "Exec", queryRow: "QueryRow",
		execer: jen.Id("Execer"), targets: "a *pgxpool.Pool, *pgx.Conn or pgx.Tx",
		fragments: []string{"pgx"}, scoped: "pgxScope", batch: "pgxBatch", queues: true, texts: true,
		on: map[string]bool{pgx: true}, db: "*pgxpool.Pool", background: "context.Background(), ",
		words: map[string]string{
			"@EXECER": "Execer", "@BEGINNER": "Beginner", "@TX": "pgx.Tx", "@NOROWS": "pgx.ErrNoRows",
		},
	},
}

// pgx is the driver of PostgreSQL that is not used through database/sql.
const pgx = "pgx"

// use adds the fragments of p's driver to those its writers use, and returns the words of
// the supporting texts.
func (d driver) use(p *plan.Package, used uses) map[string]string {
	for _, f := range append(d.fragments, drivers[p.Dialect]) {
		used[f] = true
	}
	if p.RuntimeSchema {
		used["dialect"] = true // quotes the schema's name
	}
	if used["scope"] && d.scoped != "" {
		used[d.scoped] = true
	}
	words := maps.Clone(d.words)
	words["@DIALECT"], words["@GUARDS"] = goDialects[p.Dialect], guardOptions(p.Guards)
	return words
}
