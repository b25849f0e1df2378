package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/spf13/pflag"

	"github.com/fencelint/fence/analyzers/driver"
)

// profileFlags say where profiles of a run are written.
type profileFlags struct {
	cpu, mem string
}

func (p *profileFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&p.cpu, "debug.cpuprofile", "", "write a CPU profile to `FILE`")
	flags.StringVar(&p.mem, "debug.memprofile", "", "write a memory profile to `FILE`")
}

// start begins the profiles and returns what writes them.
func (p *profileFlags) start() (stop func() error, err error) {
	var cpu *os.File
	if p.cpu != "" {
		if cpu, err = createProfile("--debug.cpuprofile", p.cpu); err != nil {
			return nil, err
		}
		if err := pprof.StartCPUProfile(cpu); err != nil {
			return nil, fmt.Errorf("starting the CPU profile: %w", err)
		}
	}
	return func() error {
		if cpu != nil {
			pprof.StopCPUProfile()
			if err := cpu.Close(); err != nil {
				return fmt.Errorf("writing the CPU profile: %w", err)
			}
		}
		if p.mem == "" {
			return nil
		}
		return writeMemProfile(p.mem)
	}, nil
}

func writeMemProfile(name string) error {
	mem, err := createProfile("--debug.memprofile", name)
	if err != nil {
		return err
	}
	runtime.GC() // what is still needed, not what was
	if err := pprof.WriteHeapProfile(mem); err != nil {
		return fmt.Errorf("writing the memory profile: %w", err)
	}
	if err := mem.Close(); err != nil {
		return fmt.Errorf("writing the memory profile: %w", err)
	}
	return nil
}

// printBounds says how often each bound of the analysis was hit.
// printWrites lists the writes to what is protected, and counts them by verdict.
func printWrites(w io.Writer, r *driver.Result) {
	n := map[string]int{}
	for _, p := range r.Writes {
		n[p.Verdict]++
		fmt.Fprintf(w, "fence: %s:%d:%d: %s of %s is %s: %s\n", p.Place.File, p.Place.Line, p.Place.Column, p.Verb, p.Target, p.Verdict, p.Why)
	}
	fmt.Fprintf(w, "fence: %s to what is protected: %d fenced, %d unfenced, %d unproven\n",
		count(len(r.Writes), "write"), n["fenced"], n["unfenced"], n["unproven"])
}

func printBounds(w io.Writer, r *driver.Result) {
	for _, b := range r.Bounds {
		fmt.Fprintf(w, "fence: bound %s=%d: hit %d times\n", b.Name, b.Max, b.Hits)
	}
}

func createProfile(flag, name string) (*os.File, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, &driver.UsageError{Problem: fmt.Sprintf("%s: %v", flag, err), Fix: "name a file that can be written", Err: err}
	}
	return f, nil
}
