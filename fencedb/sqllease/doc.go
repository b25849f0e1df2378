// Package sqllease grants leases in a database: it is a [fencedb.Coordinator] on PostgreSQL
// (13 or later), MariaDB (10.5 or later), SQLite (3.35 or later) and, unverified, MySQL (8).
//
//	coordinator, err := sqllease.New(db, fencedb.Postgres)
//	err = coordinator.Migrate(ctx) // or the files of sqllease.Migrations, by your own tool
//	err = fencedb.Hold(ctx, coordinator, "orders:daily", work, fencedb.Guards(guards.On(db)))
//
// A grant is one transaction: it locks the resource's row, reads the database's time after
// that, draws a token from the namespace's counter row, and raises the guards that are in the
// same database. A renewal is one statement. Every decision is package protocol's, and every
// time is the database's.
//
// The tables are described in docs/lease-schema.md.
package sqllease
