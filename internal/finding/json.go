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
