// Package custom has types that the generated writers of the tests have instead of their own.
package custom

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
)

// Cents is an amount, which the database has as a number with two decimals.
type Cents struct{ N int64 }

// Value implements [driver.Valuer].
func (c Cents) Value() (driver.Value, error) {
	return fmt.Sprintf("%d.%02d", c.N/100, c.N%100), nil
}

// Scan implements [sql.Scanner].
func (c *Cents) Scan(v any) error {
	text := fmt.Sprint(v)
	if b, ok := v.([]byte); ok {
		text = string(b)
	}
	n, err := strconv.ParseInt(strings.Replace(text, ".", "", 1), 10, 64)
	if err != nil {
		return fmt.Errorf("reading an amount: %w", err)
	}
	c.N = n
	return nil
}

// Email is a text of a type of its own.
type Email string
