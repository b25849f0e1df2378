package fencedb_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fencelint/fence/fencedb"
)

// The number of an etcd lock's key orders its grants.
func ExampleExternalToken() {
	const createRevision = 1138 // of the key that the lock's holder wrote
	token, err := fencedb.ExternalToken("orders:daily", createRevision)
	if err != nil {
		panic(err)
	}
	fmt.Println(token.Value())
	fmt.Println(token)
	// Output:
	// 1138
	// orders:daily/1138/
}

// What a coordinator does once it has drawn a number.
func ExampleNewToken() {
	value, err := fencedb.MakeValue(1, 42)
	if err != nil {
		panic(err)
	}
	token, err := fencedb.NewToken("orders:daily", value, "K7Q2M4")
	if err != nil {
		panic(err)
	}
	fmt.Println(token)
	fmt.Println(token.Incarnation(), token.Counter())
	// Output:
	// orders:daily/281474976710698/K7Q2M4
	// 1 42
}

// A token that travelled with a job.
func ExampleParseToken() {
	token, err := fencedb.ParseToken("orders:daily/42/K7Q2M4")
	if err != nil {
		panic(err)
	}
	fmt.Println(token.Resource())
	fmt.Println(token.Value())
	fmt.Println(token.Grant())

	_, err = fencedb.ParseToken("orders:daily/042/K7Q2M4")
	fmt.Println(err)
	// Output:
	// orders:daily
	// 42
	// K7Q2M4
	// fencedb: invalid token: the value is not a decimal from 1 to 9223372036854775807
}

func ExampleToken_Compare() {
	mine, _ := fencedb.ParseToken("orders:daily/9/AAAA")
	theirs, _ := fencedb.ParseToken("orders:daily/10/BBBB")
	order, err := mine.Compare(theirs)
	fmt.Println(order, err)

	other, _ := fencedb.ParseToken("orders:weekly/11/CCCC")
	_, err = mine.Compare(other)
	fmt.Println(errors.Is(err, fencedb.ErrWrongResource))
	// Output:
	// -1 <nil>
	// true
}

func ExampleToken_MarshalText() {
	token, _ := fencedb.ParseToken("orders:daily/42/K7Q2M4")
	data, err := json.Marshal(map[string]any{"order": 7, "token": token})
	fmt.Println(string(data), err)
	// Output:
	// {"order":7,"token":"orders:daily/42/K7Q2M4"} <nil>
}

// A write tells its caller what happened.
func ExampleStaleError() {
	save := func() error {
		return fmt.Errorf("saving order 7: %w",
			&fencedb.StaleError{Resource: "orders:daily", Table: "orders", Key: "id=7", Presented: 41, Current: 42})
	}

	err := save()
	fmt.Println(errors.Is(err, fencedb.ErrStale))
	var stale *fencedb.StaleError
	if errors.As(err, &stale) {
		fmt.Println("superseded by", stale.Current)
	}
	fmt.Println(err)
	// Output:
	// true
	// superseded by 42
	// saving order 7: fencedb: stale token 41 of orders:daily in orders (id=7): 42 is known
}

// A write under a lease: the guard is compared in the transaction of the write.
func ExampleGuardTable_InScope() {
	guards, err := fencedb.NewGuardTable(fencedb.Postgres)
	if err != nil {
		panic(err)
	}
	finish := func(ctx context.Context, db *sql.DB, token fencedb.Token, id int64) error {
		err := guards.InScope(ctx, db, token, nil, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE orders SET status = 'final' WHERE id = $1`, id)
			return err
		})
		if errors.Is(err, fencedb.ErrStale) {
			return fmt.Errorf("order %d has a new owner: %w", id, err)
		}
		return err
	}
	_ = finish
}
