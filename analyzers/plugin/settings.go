package plugin

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fencelint/fence/internal/config"
	"github.com/fencelint/fence/internal/suggest"
)

// place is where the settings stand in a .golangci.yml. golangci-lint hands over
// values without lines.
const place = "linters.settings.custom." + name + ".settings"

// settings are what a .golangci.yml says.
type settings struct {
	config string         // path of a fence.yaml
	policy *config.Config // instead of a file
	checks []string       // as the words of fence check --checks
	strict bool
}

// spec is checks as fence check takes them.
func (s settings) spec() string {
	if len(s.checks) == 0 {
		return "default"
	}
	return strings.Join(s.checks, ",")
}

// key is one setting and what reads its value.
type key struct {
	name string
	read func(s *settings, dir string, value any) error
}

var keys = []key{
	{"config", readConfig},
	{"policy", readPolicy},
	{"checks", readChecks},
	{"strict", readStrict},
}

// decode reads settings; relative paths count from dir.
func decode(conf any, dir string) (settings, error) {
	var s settings
	if conf == nil {
		return s, nil
	}
	values, ok := conf.(map[string]any)
	if !ok {
		return s, fmt.Errorf("%s: want a mapping, got %T: write %s", place, conf, keyNames())
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(values)) {
		i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
		if i < 0 {
			errs = append(errs, fmt.Errorf("%s: unknown key %q: %s", place, name, suggest.Hint(name, strings.Split(keyNames(), ", "), "known keys: "+keyNames())))
			continue
		}
		if err := keys[i].read(&s, dir, values[name]); err != nil {
			errs = append(errs, fmt.Errorf("%s.%s: %w", place, name, err))
		}
	}
	if values["config"] != nil && values["policy"] != nil {
		errs = append(errs, fmt.Errorf("%s: config and policy both say what is protected: keep one", place))
	}
	return s, errors.Join(errs...)
}

func keyNames() string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return strings.Join(names, ", ")
}

func readConfig(s *settings, dir string, value any) error {
	path, ok := value.(string)
	if !ok || strings.TrimSpace(path) == "" {
		return fmt.Errorf("want the path of a %s, got %v", config.FileName, value)
	}
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	s.config = path
	return nil
}

// readPolicy reads what a fence.yaml would say. As a mapping it has gone through
// golangci-lint's reader, which makes keys lower case and takes dots in them for
// levels; as a text it is left alone.
func readPolicy(s *settings, dir string, value any) error {
	file := filepath.Join(dir, "policy")
	switch value := value.(type) {
	case string:
		c, err := config.Parse(file, []byte(value))
		s.policy = c
		return err
	case map[string]any:
		data, err := yaml.Marshal(value)
		if err != nil {
			return fmt.Errorf("reading the policy: %w", err)
		}
		c, err := config.Parse(file, data)
		s.policy = c
		return asMapping(err)
	}
	return fmt.Errorf("want what a %s says, as a mapping or a text, got %v", config.FileName, value)
}

// asMapping leaves out lines, of a text that the user never saw, and says what
// becomes of a key with a dot.
func asMapping(err error) error {
	var all config.Errors
	if !errors.As(err, &all) {
		return err
	}
	var out []error
	for _, e := range all {
		text := e.Msg
		if e.Hint != "" {
			text += ": " + e.Hint
		}
		if strings.HasPrefix(text, "tables: ") || strings.HasPrefix(text, "guards: ") {
			text += "; golangci-lint splits a key such as public.orders at its dot: if that is one, write the policy as a text, after policy: |"
		}
		out = append(out, errors.New(text))
	}
	return errors.Join(out...)
}

func readChecks(s *settings, _ string, value any) error {
	list, ok := value.([]any)
	if !ok {
		return fmt.Errorf("want a list such as [default, -wallclockexpiry], got %v", value)
	}
	for _, v := range list {
		word, ok := v.(string)
		if !ok || word == "" || strings.ContainsAny(word, ", ") {
			return fmt.Errorf("%v is not the name of a check", v)
		}
		s.checks = append(s.checks, word)
	}
	return nil
}

func readStrict(s *settings, _ string, value any) error {
	strict, ok := value.(bool)
	if !ok {
		return fmt.Errorf("want true or false, got %v", value)
	}
	s.strict = strict
	return nil
}
