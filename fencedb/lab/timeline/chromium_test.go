package timeline

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// browser is a Chromium that is spoken to through pipes: the Chrome DevTools Protocol, each
// message a JSON object and a NUL.
type browser struct {
	t        *testing.T
	to       io.Writer
	messages chan reply
	last     int
	session  string
	errors   []string // of pages
	requests []string
}

type reply struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// start starts a Chromium without a window, and without a network.
func start(t *testing.T) *browser {
	t.Helper()
	path := os.Getenv("FENCE_TEST_CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		t.Skip("there is no chromium: install Debian's package chromium, or set FENCE_TEST_CHROMIUM to a binary")
	}
	fromUs, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, toUs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), 3*time.Minute) // the test's own ends before it is closed
	cmd := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-extensions", "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{fromUs, toUs}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		stop()
		t.Fatal(err)
	}
	fromUs.Close()
	toUs.Close()
	b := &browser{t: t, to: to, messages: make(chan reply, 1000)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(b.messages)
		r := bufio.NewReader(from)
		for {
			text, err := r.ReadBytes(0)
			if err != nil {
				return
			}
			var m reply
			if json.Unmarshal(text[:len(text)-1], &m) == nil {
				b.messages <- m
			}
		}
	}()
	t.Cleanup(func() {
		b.last++
		fmt.Fprintf(to, `{"id":%d,"method":"Browser.close"}%c`, b.last, 0)
		for range b.messages { // until it has gone
		}
		<-read
		to.Close()
		from.Close()
		if err := cmd.Wait(); err != nil && t.Failed() {
			t.Logf("chromium: %v\n%s", err, &stderr)
		}
		stop()
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.session = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// call sends a command and waits for its result.
func (b *browser) call(method string, params any, result any) {
	b.t.Helper()
	b.last++
	m := map[string]any{"id": b.last, "method": method}
	if params != nil {
		m["params"] = params
	}
	if b.session != "" {
		m["sessionId"] = b.session
	}
	text, err := json.Marshal(m)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
	id := b.last
	got := b.until(func(r reply) bool { return r.ID == id })
	if got.Error != nil {
		b.t.Fatalf("%s: %s", method, got.Error.Message)
	}
	if result != nil {
		if err := json.Unmarshal(got.Result, result); err != nil {
			b.t.Fatal(err)
		}
	}
}

// until reads until a message comes, and keeps what pages complain of and ask for.
func (b *browser) until(wanted func(reply) bool) reply {
	b.t.Helper()
	timeout := time.After(time.Minute)
	for {
		select {
		case m, ok := <-b.messages:
			if !ok {
				b.t.Fatal("chromium has gone")
			}
			switch m.Method {
			case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled":
				b.errors = append(b.errors, string(m.Params))
			case "Network.requestWillBeSent":
				var p struct{ Request struct{ URL string } }
				if err := json.Unmarshal(m.Params, &p); err != nil {
					b.t.Fatal(err)
				}
				b.requests = append(b.requests, p.Request.URL)
			}
			if wanted(m) {
				return m
			}
		case <-timeout:
			b.t.Fatal("chromium does not answer")
		}
	}
}

// open opens a page in a window of a size.
func (b *browser) open(file string, width, height int, scheme, motion string) {
	b.t.Helper()
	b.errors, b.requests = nil, nil
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{
		{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": motion}}}, nil)
	b.call("Page.navigate", map[string]any{"url": (&url.URL{Scheme: "file", Path: file}).String()}, nil)
	b.until(func(m reply) bool { return m.Method == "Page.loadEventFired" })
}

// eval evaluates an expression in the page.
func (b *browser) eval(expression string, result any) {
	b.t.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &got)
	if got.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, got.ExceptionDetails)
	}
	if err := json.Unmarshal(got.Result.Value, result); err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
}

// press presses a key.
func (b *browser) press(key string) {
	b.t.Helper()
	code := map[string]int{"Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35, "PageUp": 33, "PageDown": 34}[key]
	event := map[string]any{"type": "keyDown", "key": key, "windowsVirtualKeyCode": code}
	if code == 0 {
		event["text"] = key
	}
	b.call("Input.dispatchKeyEvent", event, nil)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "windowsVirtualKeyCode": code}, nil)
}

// shot takes a picture and keeps it if FENCE_TEST_SCREENSHOTS names a directory. It returns
// how bright the picture is, from 0 to 1, and how many colours it has.
func (b *browser) shot(name string) (bright float64, colours int) {
	b.t.Helper()
	var got struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &got)
	data, err := base64.StdEncoding.DecodeString(got.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if dir := os.Getenv("FENCE_TEST_SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o666); err != nil {
			b.t.Fatal(err)
		}
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		b.t.Fatal(err)
	}
	seen := map[[3]uint32]bool{}
	sum, n := 0.0, 0
	for y := picture.Bounds().Min.Y; y < picture.Bounds().Max.Y; y += 3 {
		for x := picture.Bounds().Min.X; x < picture.Bounds().Max.X; x += 3 {
			r, g, bl, _ := picture.At(x, y).RGBA()
			seen[[3]uint32{r, g, bl}] = true
			sum += float64(r+g+bl) / 3 / 0xffff
			n++
		}
	}
	return sum / float64(n), len(seen)
}

// quiet fails the test if the page complained, or asked for anything but itself.
func (b *browser) quiet() {
	b.t.Helper()
	for _, e := range b.errors {
		b.t.Errorf("the console has %s", e)
	}
	for _, r := range b.requests {
		if !strings.HasPrefix(r, "file://") {
			b.t.Errorf("the page asks for %s", r)
		}
	}
	if len(b.requests) != 1 {
		b.t.Errorf("%d requests, want one, of the page", len(b.requests))
	}
}

// pages writes the pages of some runs, and returns their files.
func pages(t *testing.T) map[string]string {
	t.Helper()
	dir, files := t.TempDir(), map[string]string{}
	save := func(name, page string) {
		files[name] = filepath.Join(dir, name+".html")
		if err := os.WriteFile(files[name], []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, r, o := play(t, "orders-daily", 1, "")
	save("orders-daily", written(t, WriteHTML, s, r, o))
	s, r, o = play(t, "storm", 1, "")
	save("storm", written(t, WriteHTML, s, r, o))
	s, r, o = broken(t, "late-writes", "unfenced")
	save("unfenced", written(t, WriteHTML, s, r, o))
	s, r, o = hostileRun(t)
	save("hostile", written(t, WriteHTML, s, r, o))
	return files
}

// What pages look like and do, in one Chromium.
func TestPagesInChromium(t *testing.T) {
	files := pages(t)
	b := start(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *browser, map[string]string)
	}{{"drawn", pageIsDrawn}, {"keyboard", keyboard}, {"focus", focusIsNotHidden}, {"pointer", pointer}, {"hostile", hostilePage}} {
		t.Run(test.name, func(t *testing.T) {
			whole := b.t
			b.t = t
			defer func() { b.t = whole }()
			test.run(t, b, files)
		})
	}
}

// Pages are drawn without a network and without a complaint, in light and in dark, on a
// telephone and on a desk, and no page is wider than its window.
func pageIsDrawn(t *testing.T, b *browser, files map[string]string) {
	for name, file := range files {
		for _, width := range []int{400, 1400} {
			bright := map[string]float64{}
			for _, scheme := range []string{"light", "dark"} {
				b.open(file, width, 1300, scheme, "reduce")
				var got struct{ Items, Ticks, Overflow, Lanes int }
				b.eval(`(() => ({Items: document.querySelectorAll('#chart .i').length, Ticks: document.querySelectorAll('#axis text').length,
					Overflow: document.documentElement.scrollWidth - innerWidth, Lanes: document.querySelectorAll('rect.lane').length}))()`, &got)
				if got.Items < 20 || got.Ticks < 4 || got.Lanes < 4 || got.Overflow > 0 {
					t.Errorf("%s, %d px, %s: %+v", name, width, scheme, got)
				}
				var seen bool // what matters most is, from the start
				b.eval(`(() => { const at = document.querySelector('.i.at').getBoundingClientRect(), box = document.getElementById('scroll').getBoundingClientRect();
					return at.left >= box.left - 1 && at.left <= box.right && !document.getElementById('details').hidden; })()`, &seen)
				if !seen {
					t.Errorf("%s, %d px, %s: what matters most is out of sight", name, width, scheme)
				}
				light, colours := b.shot(fmt.Sprintf("%s-%d-%s", name, width, scheme))
				bright[scheme] = light
				if colours < 50 {
					t.Errorf("%s, %d px, %s: the picture has %d colours", name, width, scheme, colours)
				}
				b.quiet()
			}
			if bright["light"] < 0.6 || bright["dark"] > 0.4 {
				t.Errorf("%s, %d px: light is %.2f bright and dark %.2f", name, width, bright["light"], bright["dark"])
			}
		}
	}
}

// focused is what has the focus.
type focused struct {
	Item    int    // its number, -1 if it is no item
	At      string // its row's time
	Class   string
	Name    string // of its row: what a screen reader says
	Lane    int
	Details string
	Visible bool // it can be seen
	Stops   int  // items that the Tab key stops at
}

func (b *browser) focus() focused {
	b.t.Helper()
	var f focused
	b.eval(`(() => {
		const e = document.activeElement.closest('.i'), stops = document.querySelectorAll('#chart .i[tabindex="0"]').length;
		if (!e) return {Item: -1, Stops: stops};
		const row = document.getElementById(e.getAttribute('aria-labelledby')), box = document.getElementById('scroll').getBoundingClientRect(), at = e.getBoundingClientRect(), floor = document.getElementById('details').getBoundingClientRect().top;
		return {Item: Number(e.dataset.i), At: row.cells[0].textContent, Class: e.getAttribute('class'), Name: row.textContent, Lane: Number(e.dataset.l),
			Details: document.getElementById('details').textContent, Visible: at.right >= box.left && at.left <= box.right && at.bottom <= floor + 1 && at.top >= -1, Stops: stops};
	})()`, &f)
	return f
}

// The timeline can be walked with the keyboard alone: in time, between lanes, to what is red,
// and zoomed. What has the focus is told, and in sight.
func keyboard(t *testing.T, b *browser, files map[string]string) {
	b.open(files["orders-daily"], 1400, 1000, "light", "reduce")
	for range 12 { // past the buttons
		if b.press("Tab"); b.focus().Item >= 0 {
			break
		}
	}
	first := b.focus()
	if first.Item < 0 || first.Stops != 1 {
		t.Fatalf("the Tab key does not lead to the timeline, or to too much of it: %+v", first)
	}
	told := func(f focused) {
		t.Helper()
		if f.Details == "" || !strings.Contains(f.Details, f.At) || !f.Visible || f.Stops != 1 || !strings.Contains(f.Class, " at") {
			t.Errorf("what has the focus is not told, or out of sight: %+v", f)
		}
	}
	b.press("Home")
	last := b.focus()
	told(last)
	var items int
	b.eval(`document.querySelectorAll('#chart .i').length`, &items)
	for n := 1; n < items; n++ {
		b.press("ArrowRight")
		f := b.focus()
		if f.Item <= last.Item || f.At < last.At {
			t.Fatalf("after item %d at %s comes %d at %s", last.Item, last.At, f.Item, f.At)
		}
		told(f)
		last = f
	}
	if b.press("ArrowRight"); b.focus().Item != last.Item {
		t.Error("there is something after the end")
	}
	if b.press("ArrowLeft"); b.focus().Item >= last.Item {
		t.Error("the left arrow key does not go back")
	}
	if b.press("End"); b.focus().Item != last.Item {
		t.Error("End is not the end")
	}
	b.press("Home")
	b.press("PageDown")
	red := b.focus()
	if !strings.Contains(red.Class, "bad") || !strings.Contains(red.Name, "41") {
		t.Errorf("Page Down leads to %+v", red)
	}
	told(red)
	b.press("ArrowUp")
	if up := b.focus(); up.Lane >= red.Lane {
		t.Errorf("up from lane %d leads to %d", red.Lane, up.Lane)
	}
	b.press("ArrowDown")
	if down := b.focus(); down.Lane != red.Lane {
		t.Errorf("down again leads to lane %d, not %d", down.Lane, red.Lane)
	}
	var before, after, whole float64
	b.eval(`document.getElementById('chart').clientWidth`, &before)
	for range 6 {
		b.press("+")
	}
	b.eval(`document.getElementById('chart').clientWidth`, &after)
	if after < 60*before || after > 70*before {
		t.Errorf("six times closer, %v px are %v", before, after)
	}
	told(b.focus())
	var labels []string
	b.eval(`[...document.querySelectorAll('#axis text.wall')].map((e) => e.textContent)`, &labels)
	if len(labels) < 5 || len(labels) > 40 || !strings.HasPrefix(labels[0], "20:04:2") {
		t.Errorf("the axis shows %q", labels)
	}
	b.shot("orders-daily-zoomed")
	for range 3 {
		b.press("ArrowRight")
		told(b.focus())
	}
	b.press("0")
	b.eval(`document.getElementById('chart').clientWidth`, &whole)
	if whole != before {
		t.Errorf("the whole run is %v px, was %v", whole, before)
	}
	b.quiet()
}

// In a low window, too, what has the focus is not behind its details.
func focusIsNotHidden(t *testing.T, b *browser, files map[string]string) {
	b.open(files["orders-daily"], 400, 520, "dark", "reduce")
	b.eval(`document.querySelector('#chart .i').focus() ?? true`, new(bool))
	for range 40 {
		b.press("ArrowRight")
		if f := b.focus(); !f.Visible {
			t.Fatalf("hidden: %+v", f)
		}
	}
	b.quiet()
}

// What is pointed at is told, a thin line too, and what is not on it stays as it was.
func pointer(t *testing.T, b *browser, files map[string]string) {
	b.open(files["orders-daily"], 1400, 1000, "dark", "no-preference")
	var at struct{ X, Y float64 }
	b.eval(`(() => { scrollTo(0, 0); const r = [...document.querySelectorAll('.message.usual line')].at(-1).getBoundingClientRect();
		return {X: r.x + r.width / 2 + 3, Y: r.y + r.height * 0.45}; })()`, &at)
	b.call("Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": at.X, "y": at.Y}, nil)
	var got struct {
		Class, Details, Row string
		X                   float64
	}
	b.eval(`(() => { const w = document.querySelector('.i.at'); return {Class: w.getAttribute('class'), Details: document.getElementById('details').textContent,
		Row: document.getElementById(w.getAttribute('aria-labelledby')).cells[2].textContent, X: w.querySelector('line')?.getBoundingClientRect().x ?? 0}; })()`, &got)
	if !strings.Contains(got.Class, "message") || !strings.Contains(got.Details, got.Row) || math.Abs(got.X-at.X) > 10 {
		t.Errorf("beside a line at %v: %+v", at, got)
	}
	var width float64
	b.call("Input.dispatchMouseEvent", map[string]any{"type": "mouseWheel", "x": at.X, "y": at.Y, "deltaX": 0, "deltaY": -400, "modifiers": 2}, nil)
	b.eval(`new Promise((done) => setTimeout(() => done(document.getElementById('chart').clientWidth), 300))`, &width)
	if width < 2500 {
		t.Errorf("Ctrl and the wheel make it %v px wide", width)
	}
	b.quiet()
}

// Nothing that a scenario is called runs.
func hostilePage(t *testing.T, b *browser, files map[string]string) {
	s, _, _ := hostileRun(t)
	b.open(files["hostile"], 1400, 1000, "light", "reduce")
	var title string
	b.eval(`document.title`, &title)
	if title == "owned" || !strings.Contains(title, "</script>") {
		t.Errorf("the title is %q", title)
	}
	var names []string
	b.eval(`[...document.querySelectorAll('.name b')].map((e) => e.textContent)`, &names)
	if len(names) != 4 || names[1] != s.Workers[0].Name {
		t.Errorf("the lanes are %q", names)
	}
	b.quiet()
}
