// Package alerttest evaluates the alert rules of promfence with Prometheus' own rule engine.
// It is a module of its own, so that promfence does not require Prometheus.
package alerttest
