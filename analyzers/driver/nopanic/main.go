// Nopanic runs all checks over packages of the standard library and of the
// module cache, to show that no input makes one panic.
//
// Packages are parsed and type-checked leniently: an import that is not in the
// cache is an empty package, so code is read also where its types are not known,
// which the driver would not do. Every package is read whole, as if it imported a
// store, although the engine passes over most packages. Summaries of imported
// packages that are read too are known, as they are to the driver.
//
// The SSA builder of golang.org/x/tools may panic on a package with type errors.
// The driver never builds such a package, so these are counted and listed, but
// are no failures.
//
// Packages are read in another process, which is started again without the
// package that ended it: a stack overflow cannot be recovered.
//
// Of a module that the cache holds in several versions, the highest is read.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"
)

func main() {
	n := flag.Int("n", 3500, "read about `N` packages, evenly from the sorted list; 0: all")
	limit := flag.Duration("limit", 5*time.Minute, "give a package up after `TIME`, which is a failure")
	slow := flag.Duration("slow", 5*time.Second, "list packages that take longer than `TIME`")
	workers := flag.Int("p", runtime.GOMAXPROCS(0), "read `N` packages at a time")
	child := flag.Bool("child", false, "read the directories on standard input and print outcomes (used by nopanic itself)")
	flag.Parse()
	if flag.NArg() > 0 || *n < 0 || *workers < 1 {
		flag.Usage()
		os.Exit(2)
	}
	begin := time.Now()
	all, err := newTree()
	if err != nil {
		fmt.Fprintln(os.Stderr, "nopanic:", err)
		os.Exit(2)
	}
	if *child {
		obey(all, os.Stdin, os.Stdout, *workers, *limit)
		return
	}
	outcomes, err := supervise(sample(all.dirs, *n), "-child", "-p", strconv.Itoa(*workers), "-limit", limit.String())
	err = errors.Join(err, report(os.Stdout, outcomes, len(all.dirs), *slow))
	fmt.Printf("%d s\n", int(time.Since(begin).Seconds()))
	if err != nil {
		fmt.Fprintln(os.Stderr, "nopanic:", err)
		os.Exit(1)
	}
}

// sample returns n of dirs, evenly spread; all if n is 0.
func sample(dirs []string, n int) []string {
	if n == 0 || n >= len(dirs) {
		return dirs
	}
	some := make([]string, n)
	for i := range some {
		some[i] = dirs[i*len(dirs)/n]
	}
	return some
}

// report prints what became of the packages; the error says that one failed.
func report(w io.Writer, outcomes []outcome, of int, slow time.Duration) error {
	var sound, unbuilt, findings, failed int
	for _, o := range outcomes {
		switch {
		case o.Unbuilt:
			unbuilt++
			fmt.Fprintf(w, "skipped: %s: %s\n", o.Name, o.Failure)
		case o.Failure != "":
			failed++
			fmt.Fprintf(w, "FAILED %s: %s\n\n", o.Name, o.Failure)
		}
		if o.Sound {
			sound++
		}
		findings += o.Findings
	}
	slices.SortFunc(outcomes, func(a, b outcome) int {
		return cmp.Or(cmp.Compare(b.Took, a.Took), cmp.Compare(a.Name, b.Name))
	})
	for i, o := range outcomes {
		if i == 0 || o.Took > slow {
			fmt.Fprintf(w, "slowest: %6.1f s %s\n", o.Took.Seconds(), o.Name)
		}
	}
	fmt.Fprintf(w, "%d packages of %d directories read, %d without type errors; %d findings\n", len(outcomes), of, sound, findings)
	fmt.Fprintf(w, "%d skipped because SSA does not build from their type errors\n", unbuilt)
	fmt.Fprintf(w, "%d panics or other failures\n", failed)
	if failed > 0 {
		return fmt.Errorf("%d packages failed", failed)
	}
	if len(outcomes) == 0 {
		return errors.New("nothing was read")
	}
	return nil
}
