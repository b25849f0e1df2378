package driver

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/fencelint/fence/analyzers"
	"github.com/fencelint/fence/analyzers/internal/engine"
	"github.com/fencelint/fence/analyzers/internal/inputs"
)

// IsVet tells whether these are the arguments of a vettool: flags, the last of
// which is a question of the go command about the tool, or flags and the
// description of one package. A command line of fence starts with a verb.
func IsVet(args []string) bool {
	if len(args) == 0 {
		return false
	}
	last := len(args) - 1
	if slices.ContainsFunc(args[:last], func(a string) bool { return !strings.HasPrefix(a, "-") }) {
		return false
	}
	return args[last] == "-V=full" || args[last] == "-flags" || strings.HasSuffix(args[last], ".cfg")
}

// Vet runs this process as a vettool, which analyses one package with the facts
// about those it imports, and does not return:
//
//	go vet -vettool=$(command -v fence) ./...
//
// It reports what [Run] does, except what only all packages together show. The
// fence.yaml and the schemas of the main modules become part of the tool's
// version, by which go vet knows its cached answers.
func Vet() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(shortLived)
	}
	selected, err := Select(analyzers.All(), "default")
	if unit := os.Args[len(os.Args)-1]; err == nil && strings.HasSuffix(unit, ".cfg") {
		err = tellOfImported(unit)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "fence: %v\n", err)
		os.Exit(1)
	}
	flag.Var(vetVersion{}, "V", "print version and exit")
	unitchecker.Main(selected.Modular(engine.Options{})...)
}

// shortLived is the GOGC of a process for one package: most end before they have to collect, which
// takes a tenth less time than the default.
const shortLived = 400

// tellOfImported makes the description of a package of a main module ask for
// findings where go vet wants nothing but facts, because the package is only
// imported by those that were named. go vet 1.26 caches what a tool says, which is
// then nothing, and answers with that when the package itself is named later.
func tellOfImported(unit string) error {
	data, err := os.ReadFile(unit)
	if err != nil {
		return err
	}
	var asked unitchecker.Config
	if err := json.Unmarshal(data, &asked); err != nil {
		return fmt.Errorf("reading %s: %w", unit, err)
	}
	module := asked.Module // from Go 1.27 on
	if module == nil {
		module = &analysis.Module{Path: asked.ModulePath, Version: asked.ModuleVersion}
	}
	// Only go vet names a file for what the tool says.
	if !asked.VetxOnly || asked.Stdout == "" || module.Path == "" || module.Version != "" {
		return nil
	}
	var all map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		return fmt.Errorf("reading %s: %w", unit, err)
	}
	all["VetxOnly"] = false
	if data, err = json.Marshal(all); err != nil {
		return fmt.Errorf("writing %s: %w", unit, err)
	}
	return os.WriteFile(unit, data, 0o600)
}

// vetVersion is the flag -V=full.
type vetVersion struct{}

func (vetVersion) IsBoolFlag() bool { return true }
func (vetVersion) String() string   { return "" }

// Set prints the version and ends the process, which is what the flag is for.
func (vetVersion) Set(s string) error {
	if s != "full" {
		return fmt.Errorf("unsupported value %q: use -V=full", s)
	}
	line, err := versionLine(context.Background(), ".")
	if err != nil {
		return err
	}
	fmt.Println(line)
	os.Exit(0)
	return nil
}

// versionLine identifies the tool and what it reads. The go command takes the
// last word for the identity of a tool whose version is devel, so both digests
// stand in it.
func versionLine(ctx context.Context, dir string) (string, error) {
	self, err := executableDigest()
	if err != nil {
		return "", fmt.Errorf("reading this program: %w", err)
	}
	in, err := inputs.Find(ctx, dir)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("fence version devel buildID=%s-%s", self, in.Digest), nil
}

func executableDigest() (digest string, err error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
