package plan

import "github.com/fencelint/fence/internal/sqlstmt"

// Quote is a name as an identifier, as the statements of a plan have it.
func Quote(d sqlstmt.Dialect, name string) string { return dialects[d].column(name) }

// Literal is a text as a constant.
func Literal(d sqlstmt.Dialect, text string) string { return dialects[d].literal(text) }
