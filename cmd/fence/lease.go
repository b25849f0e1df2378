package main

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/fencelint/fence/analyzers/driver"
	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/sqllease"
	"github.com/fencelint/fence/internal/database"
)

func newLease(dir *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lease",
		Short: "Change what a coordinator knows: break a lease, advance its tokens",
	}
	withVerbs(cmd, newLeaseBreak(dir), newLeaseAdvance(dir), newLeaseCleanup(dir), newLeaseMigrate(dir))
	return cmd
}

// auditFlags say who does something, and why.
type auditFlags struct {
	reason, actor string
}

func (f *auditFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.reason, "reason", "", "why, for the audit")
	cmd.Flags().StringVar(&f.actor, "actor", "", "who, for the audit (default: the user's name)")
}

func (f *auditFlags) check(verb string) error {
	if f.reason == "" {
		return &driver.UsageError{Problem: verb + " needs a reason for the audit", Fix: `write --reason "why"`}
	}
	if f.actor != "" {
		return nil
	}
	u, err := user.Current()
	if err != nil || u.Username == "" {
		return &driver.UsageError{Problem: verb + " does not know who you are", Fix: "write --actor and a name for the audit"}
	}
	f.actor = u.Username
	return nil
}

// asked is the error of a coordinator that would not do as asked: the command line's fault
// if asking again does not help.
func asked(err error, fix string) error {
	var schema *sqllease.SchemaError
	if errors.Is(err, fencedb.ErrRefused) && !errors.As(err, &schema) {
		return &driver.UsageError{Problem: err.Error(), Fix: fix, Err: err}
	}
	return unread(err)
}

func newLeaseBreak(dir *string) *cobra.Command {
	var coordinator coordinatorFlags
	var audit auditFlags
	var noDelay bool
	cmd := &cobra.Command{
		Use:   "break RESOURCE",
		Short: "End a grant whose holder does not",
		Long: `Break ends a grant by force: its renewals are refused from now on, and the audit
says who did so and why. The holder cannot be told, so nobody else is granted the
resource until the holder's time has run out and for its lock-delay.

--no-delay lets the next in at once. The former holder then goes on until its next
renewal: what it writes has to compare its token, and what does not is not safe.`,
		Example: `  fence lease break --dsn "$DATABASE_URL" --reason "INC-4711: node is frozen" orders:daily`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &driver.UsageError{Problem: "fence lease break takes one resource", Fix: "fence status lists them"}
			}
			if err := audit.check("fence lease break"); err != nil {
				return err
			}
			c, db, err := coordinator.open("fence lease break", *dir, database.ReadWrite)
			if err != nil {
				return err
			}
			defer db.Close()
			o, err := c.Break(cmd.Context(), sqllease.BreakRequest{Resource: args[0], Reason: audit.reason, Actor: audit.actor, NoDelay: noDelay})
			if errors.Is(err, fencedb.ErrReleased) {
				return unread(fmt.Errorf("nobody holds %s: %w", args[0], err))
			}
			if err != nil {
				return asked(err, "fence status lists the resources")
			}
			fmt.Fprintf(cmd.OutOrStdout(), "broke %s, which %s held; token %d is above the holder's; the next can be granted it in %v\n",
				args[0], o.Owner, o.Token.Value(), o.TakeoverIn().Round(time.Millisecond))
			return nil
		},
	}
	coordinator.add(cmd.Flags())
	audit.add(cmd)
	cmd.Flags().BoolVar(&noDelay, "no-delay", false, "let the next in at once, beside the holder")
	return cmd
}

func newLeaseAdvance(dir *string) *cobra.Command {
	var coordinator coordinatorFlags
	var audit auditFlags
	var floor int64
	var anew bool
	var quarantine time.Duration
	cmd := &cobra.Command{
		Use:   "advance",
		Short: "Have tokens go on from higher up, after a restore",
		Long: `Advance has a namespace's next tokens be larger than what is known somewhere. A
database that was restored from an old snapshot has forgotten its newest grants:
find the largest token that guards and rows have seen (fence verify --counter), and
give it as --floor, or start a --new-incarnation, which is above all of this one's.

With --quarantine nothing is granted for a while: holders of forgotten grants may
still be at work. Take the longest TTL, and the lock-delay, and a bit.

Nothing is ever lowered.`,
		Example: `  fence lease advance --dsn "$DATABASE_URL" --new-incarnation --quarantine 30s --reason "restored the 2 am backup"`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := audit.check("fence lease advance"); err != nil {
				return err
			}
			c, db, err := coordinator.open("fence lease advance", *dir, database.ReadWrite)
			if err != nil {
				return err
			}
			defer db.Close()
			value, err := c.Advance(cmd.Context(), sqllease.AdvanceRequest{Floor: floor, NewIncarnation: anew, Quarantine: quarantine, Reason: audit.reason, Actor: audit.actor})
			if err != nil {
				return asked(err, "fence lease advance -h says what it takes")
			}
			fmt.Fprintf(cmd.OutOrStdout(), "the next token of %s is above %d\n", c.Namespace(), value)
			return nil
		},
	}
	coordinator.add(cmd.Flags())
	audit.add(cmd)
	cmd.Flags().Int64Var(&floor, "floor", 0, "have the next token be above `N`")
	cmd.Flags().BoolVar(&anew, "new-incarnation", false, "have the next token be above all of this incarnation")
	cmd.Flags().DurationVar(&quarantine, "quarantine", 0, "grant nothing for this long")
	return cmd
}

func newLeaseCleanup(dir *string) *cobra.Command {
	var coordinator coordinatorFlags
	var older time.Duration
	cmd := &cobra.Command{
		Use:   "cleanup",
		Short: "Delete what is known of leases that are long over",
		Long: `Cleanup deletes the rows of leases that nobody has held for some time, and of
rejected writes of that age. Tokens go on as if it had not been: their counter is
of the namespace, and nothing deletes it.`,
		Example: `  fence lease cleanup --dsn "$DATABASE_URL" --older-than 720h`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, db, err := coordinator.open("fence lease cleanup", *dir, database.ReadWrite)
			if err != nil {
				return err
			}
			defer db.Close()
			return cleanup(cmd.Context(), cmd, c, older)
		},
	}
	coordinator.add(cmd.Flags())
	cmd.Flags().DurationVar(&older, "older-than", 30*24*time.Hour, "keep what ended within this `DURATION`")
	return cmd
}

func cleanup(ctx context.Context, cmd *cobra.Command, c *sqllease.Coordinator, older time.Duration) error {
	n, err := c.Cleanup(ctx, older)
	if err != nil {
		return asked(err, "write --older-than and a duration that is not negative")
	}
	fmt.Fprintf(cmd.OutOrStdout(), "deleted %s\n", count(n, "lease"))
	return nil
}

func newLeaseMigrate(dir *string) *cobra.Command {
	var coordinator coordinatorFlags
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Make the coordinator's tables, or bring them up to date",
		Long: `Migrate makes the tables that a coordinator needs, or brings those of an earlier
version up to date. It can run again and beside others. Programs that keep their
own migrations take the files of sqllease.Migrations instead (docs/lease-schema.md).`,
		Example: `  fence lease migrate --dsn "$DATABASE_URL"`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, db, err := coordinator.open("fence lease migrate", *dir, database.ReadWrite)
			if err != nil {
				return err
			}
			defer db.Close()
			if err := c.Migrate(cmd.Context()); err != nil {
				return unread(err)
			}
			return nil
		},
	}
	coordinator.add(cmd.Flags())
	return cmd
}
