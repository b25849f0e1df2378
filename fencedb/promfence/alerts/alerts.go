// Package alerts has the alert rules of fence for Prometheus, for programs that hand them on.
// Who configures Prometheus by files takes fence.rules.yaml itself; docs/alerts.md says for
// each alert what it means and what to do.
package alerts

import _ "embed"

//go:embed fence.rules.yaml
var rules string

// Rules returns a rule file of Prometheus, in YAML.
func Rules() string { return rules }
