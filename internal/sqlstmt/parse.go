package sqlstmt

// Style says what a placeholder looks like where the text is used.
type Style int

// The placeholder styles. Native is the dialect's own; Question is "?" (also
// where the dialect is PostgreSQL: sqlx.Rebind, gorm, bun, squirrel); Named is
// ":name" and "@name".
const (
	Native Style = iota
	Question
	Named
)

// Options modify [Parse].
type Options struct{ Placeholders Style }

// Parse reads text, which may hold several statements and holes, in dialect d.
// It never panics; what it does not understand is said in the result.
func Parse(text string, d Dialect, o Options) Script {
	return Script{Dialect: d, Err: "not parsed"}
}
