package finding

import (
	"bufio"
	"encoding/json"
	"io"
)

// WriteJSON prints findings for programs: one JSON object a line.
func WriteJSON(w io.Writer, fs []Finding) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false) // SQL in messages stays readable: fence < $1
	for _, f := range fs {
		if err := enc.Encode(f); err != nil {
			return err
		}
	}
	return out.Flush()
}

// writeIndented prints one JSON value that people can read too.
func writeIndented(w io.Writer, value any) error {
	enc := json.NewEncoder(w) // writes the whole value at once
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}
