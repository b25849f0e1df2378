package lease_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/fencelint/fence/analyzers/internal/lease"
)

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "",
		"lease":                   "lease",
		"LeaseExpiresAt":          "lease expires at",
		"lease_expires_at":        "lease expires at",
		"hooks:compensate:lock":   "hooks compensate lock",
		"DHCPLease":               "dhcp lease",
		"HTTPServer":              "http server",
		"leaseID":                 "lease id",
		"LEASE_TTL":               "lease ttl",
		"lock2":                   "lock",
		"v1Lease":                 "v lease",
		"jobs/{id}/leader":        "jobs id leader",
		"Élection":                "élection",
		"__":                      "",
		"lockedByA":               "locked by a",
		"kube-system/my.lock\x00": "kube system my lock",
	} {
		if got := strings.Join(lease.Words(in), " "); got != want {
			t.Errorf("Words(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestOwnership(t *testing.T) {
	for name, want := range map[string]bool{
		"lease": true, "LeaseExpiresAt": true, "hooks:compensate:lock": true, "leader_election": true, "heartbeat_at": true,
		"claimed_by": true, "jobs_locks": true, "rowLock": true, "LOCK": true, "semaphore": true,
		"please": false, "release": false, "Release": false, "clock": false, "block": false, "blockedAt": false, "unlocked": false,
		"flock": false, "release_at": false, "clockSkew": false, "deadlock": false, "leadTime": false, "electron": false,
	} {
		if got := lease.Ownership.Has(name); got != want {
			t.Errorf("Ownership.Has(%q) = %t, want %t", name, got, want)
		}
	}
	if !lease.Ownership.Has("nothing", "the_lock") || lease.Ownership.Has() {
		t.Error("Has looks at every name")
	}
}

func TestIsHolderName(t *testing.T) {
	for name, want := range map[string]bool{
		"owner": true, "Owner": true, "holder": true, "HolderIdentity": true, "lock_owner": true, "leader": true, "leaderID": true,
		"locked_by": true, "LeasedBy": true, "claimed_by": true, "picked_by": true, "attempted_by": true,
		"worker_id": true, "WorkerID": true, "runnerId": true, "process_id": true,
		"node_id": false, "instance_id": false, "pod_id": false, // as often what the row is about
		"": false, "id": false, "user_id": false, "owner_user_id": false, "account_owner": false, "created_by": false, "updated_by": false,
		"by": false, "locked": false, "worker": false, "worker_count": false, "owner_at": false, "leader_until": false, "holder_ttl": false,
		"primary_key": false, "lead_time": false, "session_owner": false, "ownerless": false,
	} {
		if got := lease.IsHolderName(name); got != want {
			t.Errorf("IsHolderName(%q) = %t, want %t", name, got, want)
		}
	}
}

func TestIsTokenName(t *testing.T) {
	for name, want := range map[string]bool{
		"fence": true, "fencing_token": true, "epoch": true, "Term": true, "lease_generation": true, "attempt": true, "RangeID": true,
		"range_id": true, "lease_token": true, "LockVersion": true, "incarnation": true, "leaderVersion": true,
		"": false, "token": false, "version": false, "max_attempt": false, "attempt_at": false, "api_token": false, "terminal": false,
		"determine": false, "attempts": false, "ObservedGeneration": false, "range": false, "id_range": false, "random_epoch": false,
	} {
		if got := lease.IsTokenName(name); got != want {
			t.Errorf("IsTokenName(%q) = %t, want %t", name, got, want)
		}
	}
}

// The lists hold words as Words gives them, else they never match.
func TestListsHoldWords(t *testing.T) {
	for name, s := range map[string]lease.Set{
		"Ownership": lease.Ownership, "Owner": lease.Owner, "Token": lease.Token, "Expiry": lease.Expiry,
		"Foreign": lease.Foreign, "Audit": lease.Audit, "State": lease.State,
	} {
		for w := range s {
			if !slices.Equal(lease.Words(w), []string{w}) {
				t.Errorf("%s has %q, which is the words %q", name, w, lease.Words(w))
			}
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add("LeaseExpiresAt")
	f.Add("\xff_Ab")
	f.Add("Jϓ")
	f.Fuzz(func(t *testing.T, s string) {
		for _, w := range lease.Words(s) {
			if strings.ContainsFunc(w, unicode.IsUpper) {
				continue // a capital that has no small letter, such as 𝐀
			}
			if w == "" || !slices.Equal(lease.Words(w), []string{w}) {
				t.Errorf("%q has the word %q", s, w)
			}
		}
	})
}
