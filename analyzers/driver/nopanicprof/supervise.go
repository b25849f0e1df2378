package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// outcome is what became of a package that was chosen, a line of JSON between
// the two processes.
type outcome struct {
	Dir      string
	Name     string
	Done     bool // false: it was begun
	Sound    bool // no type errors
	Findings int
	Took     time.Duration
	Failure  string // what went wrong
	Unbuilt  bool   // the failure is the SSA builder's, from type errors
}

// obey reads the packages in the directories named on in and tells out about
// each.
func obey(t *tree, in io.Reader, out io.Writer, workers int, limit time.Duration) {
	var mu sync.Mutex
	enc := json.NewEncoder(out)
	l := newLoader(t, func(o outcome) {
		mu.Lock()
		defer mu.Unlock()
		if err := enc.Encode(o); err != nil {
			panic(err) // nobody listens
		}
	})
	for lines := bufio.NewScanner(in); lines.Scan(); {
		l.add(lines.Text())
	}
	l.run(workers, limit)
}

// supervise has a process read the packages in dirs, and another one what is
// left when it dies.
func supervise(dirs []string, args ...string) ([]outcome, error) {
	var all []outcome
	for {
		done, lost, err := once(dirs, args)
		all = append(all, done...)
		if err == nil || len(lost) == 0 {
			slices.SortFunc(all, func(a, b outcome) int { return strings.Compare(a.Name, b.Name) })
			return all, err
		}
		for _, o := range lost {
			o.Failure = fmt.Sprintf("the process died while it read this package (%d at the time): %v", len(lost), err)
			all = append(all, o)
		}
		dirs = slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool {
			return slices.ContainsFunc(slices.Concat(done, lost), func(o outcome) bool { return o.Dir == dir })
		})
	}
}

// once runs one process; lost are the packages it had begun and not finished.
func once(dirs, args []string) (done, lost []outcome, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(self, args...)
	cmd.Stdin = strings.NewReader(strings.Join(dirs, "\n"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	runErr := cmd.Run()
	for dec := json.NewDecoder(&stdout); ; {
		var o outcome
		if err := dec.Decode(&o); err != nil {
			break // the end, or half a line of a process that died
		}
		if !o.Done {
			lost = append(lost, o)
			continue
		}
		done = append(done, o)
		lost = slices.DeleteFunc(lost, func(l outcome) bool { return l.Dir == o.Dir })
	}
	if runErr != nil {
		// The beginning says what happened and where.
		return done, lost, errors.New(firstLines(stderr.String(), 60))
	}
	return done, nil, nil
}

func firstLines(s string, n int) string {
	lines := strings.Split(s, "\n")
	return strings.Join(lines[:min(n, len(lines))], "\n")
}
