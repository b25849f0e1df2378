package ops_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fencelint/fence/fencedb"
	"github.com/fencelint/fence/fencedb/fencedbtest"
	"github.com/fencelint/fence/fencedb/ops"
)

var noon = time.Date(2026, 7, 20, 12, 0, 0, 0, time.UTC)

func rows() []ops.Row {
	before := fencedb.Predecessor{Value: 41, Owner: "worker-a", End: "expired", Renewed: noon.Add(-time.Minute), Ended: noon.Add(-45 * time.Second)}
	return []ops.Row{
		{Observation: fencedb.Observation{Namespace: "default", Resource: "a", At: noon}},
		{Observation: fencedb.Observation{Namespace: "default", Resource: "b\tc", At: noon, Token: fencedbtest.Token("b", 40), Owner: "x\n\x1b[31m",
			End: "broken", Granted: noon.Add(-time.Hour), Renewed: noon.Add(-time.Minute), Expires: noon.Add(-time.Second), Free: noon.Add(5 * time.Second)}},
		{Observation: fencedb.Observation{Namespace: "default", Resource: "orders:daily", At: noon, Held: true, Token: fencedbtest.Token("orders:daily", 42),
			Owner: "worker-b", Granted: noon.Add(-40 * time.Second), Renewed: noon.Add(-2 * time.Second), Expires: noon.Add(13 * time.Second),
			Renewals: 8, TTL: 15 * time.Second, Usable: 12571 * time.Millisecond, Free: noon.Add(13 * time.Second), Predecessor: before},
			Rejected: 3, LastRejected: noon.Add(-30 * time.Second)},
		{Observation: fencedb.Observation{Namespace: "default", Resource: "z", At: noon, Token: fencedbtest.Token("z", 1), Owner: "worker-a",
			End: "released", Granted: noon.Add(-time.Hour), Renewed: noon.Add(-time.Hour), Expires: noon.Add(-time.Hour), Free: noon.Add(-time.Hour)}},
	}
}

func TestWriteText(t *testing.T) {
	var out strings.Builder
	if err := ops.WriteText(&out, rows()); err != nil {
		t.Fatal(err)
	}
	want := `RESOURCE      STATE          OWNER              TOKEN  GRANTED      RENEWALS  LAST                  HOLDER HAS  STORE HAS  FREE IN  PREDECESSOR           REJECTED
a             never granted  -                  -      -            0         -                     -           -          -        -                     0
"b\tc"        delayed        "x\n\x1b[31m"      40     1h0m0s ago   0         broken                -           -          5s       -                     0
orders:daily  held           worker-b           42     40s ago      8         renewed, 2s ago       10.6s       13s        13s      41 worker-a, expired  3, 30s ago
z             free           worker-a           1      1h0m0s ago   0         released, 1h0m0s ago  -           -          -        -                     0
`
	if got := squeeze(out.String()); got != squeeze(want) {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if strings.Count(out.String(), "\n") != 5 {
		t.Error("an owner's name makes lines of its own")
	}
}

// squeeze leaves one blank between columns.
func squeeze(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.Join(lines, "\n")
}

func TestWriteJSON(t *testing.T) {
	var out strings.Builder
	if err := ops.WriteJSON(&out, rows()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines", len(lines))
	}
	if want := `{"namespace":"default","resource":"a","state":"never granted","at":"2026-07-20T12:00:00Z","renewals":0,"remaining":{"conservative":0,"store":0},"free_in":0,"rejected":{"count":0}}`; lines[0] != want {
		t.Errorf("got  %s\nwant %s", lines[0], want)
	}
	if want := `{"namespace":"default","resource":"orders:daily","state":"held","at":"2026-07-20T12:00:00Z","owner":"worker-b","token":42,"grant":"test-42","granted":"2026-07-20T11:59:20Z","renewals":8,"renewed":"2026-07-20T11:59:58Z","last_outcome":"renewed","expires":"2026-07-20T12:00:13Z","remaining":{"conservative":10.571,"store":13},"free_in":13,"predecessor":{"token":41,"owner":"worker-a","end":"expired","renewed":"2026-07-20T11:59:00Z","ended":"2026-07-20T11:59:15Z"},"rejected":{"count":3,"last":"2026-07-20T11:59:30Z"}}`; lines[2] != want {
		t.Errorf("got  %s\nwant %s", lines[2], want)
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
}
