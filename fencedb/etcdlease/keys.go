package etcdlease

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/fencelint/fence/fencedb"
)

// DefaultPrefix begins all keys unless [InPrefix] gives another one.
const DefaultPrefix = "fence"

// Keys are named by where they are, and every one has the same depth below the prefix, so
// that no key of one prefix, namespace or resource can be another's:
//
//	prefix / namespace / meta  / state       the namespace: cluster, incarnation
//	prefix / namespace / meta  / quarantine  on an etcd lease: nothing is granted
//	prefix / namespace / last  / resource    the last grant, kept for ever
//	prefix / namespace / lease / resource    on an etcd lease of the TTL: it is held
//	prefix / namespace / delay / resource    on an etcd lease of TTL and lock-delay: it is not free
//	prefix / namespace / audit / resource,value  a break by an operator, kept for ever
//
// Namespace and resource are escaped as segments of a URL's path are: slashes, commas and
// all that is not ASCII become %XX.
type keys struct{ base string }

func newKeys(prefix, namespace string) keys {
	return keys{prefix + "/" + url.PathEscape(namespace) + "/"}
}

func (k keys) state() string                { return k.base + "meta/state" }
func (k keys) quarantine() string           { return k.base + "meta/quarantine" }
func (k keys) last(resource string) string  { return k.base + "last/" + url.PathEscape(resource) }
func (k keys) lease(resource string) string { return k.base + "lease/" + url.PathEscape(resource) }
func (k keys) delay(resource string) string { return k.base + "delay/" + url.PathEscape(resource) }

func (k keys) audit(resource string, value int64) string {
	return fmt.Sprintf("%saudit/%s,%d", k.base, url.PathEscape(resource), value)
}

// resource reads the resource back from one of its keys.
func (k keys) resource(key, kind string) (string, error) {
	segment, ok := strings.CutPrefix(key, k.base+kind+"/")
	if !ok {
		return "", fmt.Errorf("etcdlease: %q is no key below %s%s/", key, k.base, kind)
	}
	resource, err := url.PathUnescape(segment)
	if err != nil {
		return "", fmt.Errorf("etcdlease: %q is no key of a resource: %w", key, err)
	}
	return resource, nil
}

func checkPrefix(prefix string) error {
	if prefix == "" || strings.HasSuffix(prefix, "/") {
		return fmt.Errorf("%w: etcdlease: prefix %q is empty or ends in a slash", fencedb.ErrRefused, prefix)
	}
	return nil
}
