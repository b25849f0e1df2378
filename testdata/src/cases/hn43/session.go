package hn43

import (
	"context"
	"net/http"

	"github.com/hashicorp/consul/api"
	"github.com/redis/go-redis/v9"
)

// Logout deletes a session of the visitor: get, compare, delete of a login.
type Logins struct {
	rdb    *redis.Client
	consul *api.Client
}

func (l *Logins) Logout(w http.ResponseWriter, r *http.Request) {
	sid := r.Header.Get("X-Session")
	token, err := l.rdb.Get(r.Context(), "session:"+sid).Result()
	if err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if token != r.Header.Get("X-Token") {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if err := l.rdb.Del(r.Context(), "session:"+sid).Err(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// Leave gives a consul lock up with the session: the server compares it.
func (l *Logins) Leave(ctx context.Context, key, session string) error {
	p := &api.KVPair{Key: key, Session: session}
	ok, _, err := l.consul.KV().Acquire(p, nil)
	if err != nil || !ok {
		return err
	}
	_, _, err = l.consul.KV().Release(p, (&api.WriteOptions{}).WithContext(ctx))
	return err
}
