// Package sqlgen has the statements of the lock table for each database.
package sqlgen

import "fmt"

// Statements is one SQL dialect.
type Statements interface {
	Take() string
	Refresh() string
	Free() string
}

type MySQL struct{ Table string }

func (m MySQL) Take() string {
	return fmt.Sprintf("UPDATE `%s` SET holder = ?, beat = NOW(6) WHERE name = ? AND holder IS NULL", m.Table)
}

func (m MySQL) Refresh() string {
	return fmt.Sprintf("UPDATE `%s` SET beat = NOW(6) WHERE name = ? AND holder IS NOT NULL", m.Table)
}

func (m MySQL) Free() string {
	return fmt.Sprintf("UPDATE `%s` SET holder = NULL, beat = NULL WHERE name = ?", m.Table)
}
