// Package storetest runs fencedb against real databases. It is a module of its own, so
// that what its tests need is not required by programs that link fencedb.
//
// SQLite is always there. The others are tested where a data source is given, in
// FENCE_TEST_POSTGRES (pgx), FENCE_TEST_MARIADB and FENCE_TEST_MYSQL (go-sql-driver);
// scripts/services starts them and sets the first two.
package storetest
