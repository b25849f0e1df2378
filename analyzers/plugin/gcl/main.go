// Gcl is golangci-lint with fence in it: what golangci-lint custom makes of
// .custom-gcl.yml, but from the module proxy alone, without a clone of
// golangci-lint's repository.
//
//	cd analyzers/plugin/gcl && GOWORK=off go build -o golangci-lint-fence
package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/golangci/golangci-lint/v2/pkg/commands"
	"github.com/golangci/golangci-lint/v2/pkg/exitcodes"

	_ "github.com/fencelint/fence/analyzers/plugin"
)

func main() {
	err := run()
	if err != nil {
		fmt.Fprintf(os.Stderr, "The command is terminated due to an error: %v\n", err)
		os.Exit(exitcodes.Failure)
	}
}

func run() error {
	version, err := version()
	if err != nil {
		return err
	}
	return commands.Execute(commands.BuildInfo{Version: version, GoVersion: runtime.Version(), Commit: "unknown", Date: "unknown"})
}

// version is golangci-lint's with a digest of this program. golangci-lint keys its
// cache by the version, so another fence has to have another one.
func version() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading this program: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading this program: %w", err)
	}
	return fmt.Sprintf("%s-custom-gcl-%x", golangci(), h.Sum(nil)[:16]), nil
}

// golangci returns the version of golangci-lint that this program is made of.
func golangci() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == "github.com/golangci/golangci-lint/v2" })
	if i < 0 {
		return "unknown"
	}
	return strings.TrimPrefix(info.Deps[i].Version, "v")
}
