package sqlstmt

import "fmt"

var dialectNames = map[Dialect]string{Unknown: "unknown", Postgres: "postgres", MySQL: "mysql", MariaDB: "mariadb", SQLite: "sqlite"}

func (d Dialect) String() string { return dialectNames[d] }

// ParseDialect is the inverse of [Dialect.String] for the four real dialects.
func ParseDialect(s string) (Dialect, error) {
	for d, n := range dialectNames {
		if n == s && d != Unknown {
			return d, nil
		}
	}
	return Unknown, fmt.Errorf("unknown dialect %q: want postgres, mysql, mariadb or sqlite", s)
}
