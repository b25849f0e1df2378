package hn37

import (
	"context"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// Bump holds a mutex and changes the key with STM, which compares what it read.
func Bump(ctx context.Context, cli *clientv3.Client, key string) error {
	s, err := concurrency.NewSession(cli)
	if err != nil {
		return err
	}
	defer s.Close()
	mu := concurrency.NewMutex(s, "/bump/"+key)
	if err := mu.Lock(ctx); err != nil {
		return err
	}
	defer mu.Unlock(ctx)
	_, err = concurrency.NewSTM(cli, func(stm concurrency.STM) error {
		n, _ := strconv.Atoi(stm.Get(key))
		stm.Put(key, strconv.Itoa(n+1))
		return nil
	}, concurrency.WithAbortContext(ctx))
	return err
}

// Store repeats the mutex' own comparison.
func Store(ctx context.Context, cli *clientv3.Client, mu *concurrency.Mutex, key, val string) (bool, error) {
	if err := mu.TryLock(ctx); err != nil {
		return false, err
	}
	defer mu.Unlock(ctx)
	resp, err := cli.Txn(ctx).If(mu.IsOwner()).Then(clientv3.OpPut(key, val)).Else(clientv3.OpGet(key)).Commit()
	if err != nil {
		return false, err
	}
	return resp.Succeeded, nil
}
