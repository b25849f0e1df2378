package timeline

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/fencelint/fence/fencedb/lab"
)

// WriteNDJSON writes a run's log: each entry is a JSON object on a line of its own, in the
// order in which it happened. The same run gives the same bytes. Errors are of w.
func WriteNDJSON(w io.Writer, log []lab.Entry) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for i := range log {
		if err := enc.Encode(&log[i]); err != nil {
			return fmt.Errorf("writing the log: %w", err)
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("writing the log: %w", err)
	}
	return nil
}
