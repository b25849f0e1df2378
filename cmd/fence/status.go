package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fencelint/fence/analyzers/driver"
	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/ops"
	"github.com/fencelint/fence/fencedb/sqllease"
	"github.com/fencelint/fence/internal/database"
	"github.com/fencelint/fence/internal/sqlstmt"
)

// coordinatorFlags name a coordinator in a database.
type coordinatorFlags struct {
	dsn, dialect, namespace, schema string
}

func (f *coordinatorFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.dsn, "dsn", "", "the coordinator's database, as its driver names it; never printed")
	flags.StringVar(&f.dialect, "dialect", "", "postgres, mariadb, mysql or sqlite, if --dsn does not show it")
	flags.StringVar(&f.namespace, "namespace", "default", "the `NAME` that the coordinator was given")
	flags.StringVar(&f.schema, "schema", "", "the `SCHEMA` of the coordinator's tables")
}

// dialects are the dialects that a coordinator knows.
var dialects = map[string]struct {
	opened sqlstmt.Dialect
	leased fencedb.Dialect
}{
	"postgres": {sqlstmt.Postgres, fencedb.Postgres},
	"mariadb":  {sqlstmt.MariaDB, fencedb.MariaDB},
	"mysql":    {sqlstmt.MySQL, fencedb.MySQL},
	"sqlite":   {sqlstmt.SQLite, fencedb.SQLite},
}

// open returns the coordinator, and its database, which has to be closed.
func (f *coordinatorFlags) open(verb, dir string, access database.Access) (*sqllease.Coordinator, *sql.DB, error) {
	if f.dsn == "" {
		return nil, nil, &driver.UsageError{Problem: verb + " needs the coordinator's database", Fix: "write --dsn and its DSN; " + verb + " -h shows examples"}
	}
	name := f.dialect
	if name == "" {
		name = database.DialectOf(f.dsn).String()
	}
	dialect, ok := dialects[name]
	if !ok {
		return nil, nil, notOneOf("--dialect", name, "postgres", "mariadb", "mysql", "sqlite")
	}
	db, err := database.Open(dialect.opened, f.dsn, dir, access)
	var bad *database.DSNError
	switch {
	case errors.As(err, &bad):
		return nil, nil, &driver.UsageError{Problem: "--dsn: " + bad.Problem, Fix: bad.Fix, Err: err}
	case err != nil:
		return nil, nil, unread(err)
	}
	opts := []sqllease.Option{sqllease.Namespace(f.namespace)}
	if f.schema != "" {
		opts = append(opts, sqllease.InSchema(f.schema))
	}
	c, err := sqllease.New(db, dialect.leased, opts...)
	if err != nil {
		_ = db.Close()
		return nil, nil, &driver.UsageError{Problem: err.Error(), Fix: "write --namespace and --schema as the program gives them", Err: err}
	}
	return c, db, nil
}

// unread is the error of a coordinator that did not answer as asked.
func unread(err error) error { return &driver.LoadError{Problem: err.Error()} }

func newStatus(dir *string) *cobra.Command {
	var coordinator coordinatorFlags
	var format string
	cmd := &cobra.Command{
		Use:   "status [RESOURCE...]",
		Short: "Show who owns what, and which writes were rejected",
		Long: `Status reads a coordinator's tables and lists its resources: owner, token, when it
was granted, renewals and the last outcome, how long the holder itself counts on
its lease and how long the coordinator does, the grant before, and how many writes
were rejected for their token. It only reads. Times are the database's.

What the holder has is an upper bound: it counts from when it asked. Rejections
are there if the program has a sqllease.Recorder.

The exit status is 2 if the command line is at fault, 3 if the database cannot be
read or has no such resource, else 0.`,
		Example: `  fence status --dsn "$DATABASE_URL"
  fence status --dsn app.db orders:daily
  fence status --dsn 'app:secret@tcp(db:3306)/orders' -f json | jq 'select(.state == "held")'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "text" && format != "json" {
				return notOneOf("--format", format, "text", "json")
			}
			c, db, err := coordinator.open("fence status", *dir, database.ReadOnly)
			if err != nil {
				return err
			}
			defer db.Close()
			return printStatus(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), c, args, format)
		},
	}
	coordinator.add(cmd.Flags())
	cmd.Flags().StringVarP(&format, "format", "f", "text", "print resources as `FORMAT`: text or json")
	return cmd
}

// printStatus prints the resources that are named, or all.
func printStatus(ctx context.Context, w, stderr io.Writer, c *sqllease.Coordinator, names []string, format string) error {
	all, err := c.List(ctx)
	if err != nil {
		return unread(err)
	}
	var rows []ops.Row
	missing := slices.Clone(names)
	for _, l := range all {
		if len(names) > 0 && !slices.Contains(names, l.Resource) {
			continue
		}
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == l.Resource })
		rows = append(rows, ops.Row(l))
	}
	if len(all) == 0 {
		fmt.Fprintf(stderr, "fence: namespace %s has no leases\n", c.Namespace())
		return unknownResources(c, missing)
	}
	write := ops.WriteText
	if format == "json" {
		write = ops.WriteJSON
	}
	if err := write(w, rows); err != nil {
		return err
	}
	return unknownResources(c, missing)
}

func unknownResources(c *sqllease.Coordinator, names []string) error {
	if len(names) == 0 {
		return nil
	}
	return unread(fmt.Errorf("namespace %s never granted %s", c.Namespace(), strings.Join(names, ", ")))
}
