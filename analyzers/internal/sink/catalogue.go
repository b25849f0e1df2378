package sink

import (
	"go/types"
	"strings"

	"github.com/fencelint/fence/analyzers/internal/sqltext"
)

// A Store is a kind of place outside the process.
type Store string

// The stores. Declared is one that fence.yaml names.
const (
	SQL        Store = "SQL"
	Redis      Store = "Redis"
	Etcd       Store = "etcd"
	Consul     Store = "Consul"
	S3         Store = "S3"
	DynamoDB   Store = "DynamoDB"
	Kubernetes Store = "Kubernetes"
	NATS       Store = "NATS"
	GCS        Store = "GCS"
	Azure      Store = "Azure"
	Mongo      Store = "MongoDB"
	Kafka      Store = "Kafka"
	Raft       Store = "Raft"
	Declared   Store = "declared"
)

// Op is what a call does to a store.
type Op int

// The operations of catalogued calls. ByText: the SQL text tells.
const (
	ByText Op = iota
	Read
	Put         // creates or overwrites
	Remove      // deletes
	Append      // adds without overwriting
	Renew       // only moves an expiry
	Claim       // creates if absent: an acquire when it is about a lock
	Conditional // compares by itself
	Script      // runs code in the store
	Transaction // several operations at once, with or without a condition
	Filtered    // changes what a filter matches
)

// Spec says which argument of a call is what. Numbers do not count the
// receiver; -1: there is none.
type Spec struct {
	Store Store
	Op    Op
	Text  int // the SQL text, or the script's
	Args  int // the first bound value; the rest is variadic
	Key   int // the key
	Input int // the request struct that holds key and condition
	// Unless names functions that make the call conditional: options among its
	// arguments from Key+1 on, or methods of the chain that it is made on.
	Unless string
	// Options is a struct of options; 0: there is none (it is never the first).
	Options int
	Self    bool // the text is what the call is made on: a script
	Verb    string
}

func sql(text, args int) Spec { return Spec{Store: SQL, Text: text, Args: args, Key: -1, Input: -1} }

// HasText tells whether the call sends a text that an argument or what it is made on
// holds.
func (s Spec) HasText() bool { return s.Text >= 0 || s.Self }

func prepared(args int) Spec {
	return Spec{Store: SQL, Text: -1, Args: args, Key: -1, Input: -1, Self: true}
}

func kv(s Store, op Op, key int) Spec {
	return Spec{Store: s, Op: op, Text: -1, Args: -1, Key: key, Input: -1}
}

func request(s Store, op Op, input int) Spec {
	return Spec{Store: s, Op: op, Text: -1, Args: -1, Key: -1, Input: input}
}

// packages maps import path to method or function name to what it does. The
// receiver is not part of the key: within these packages a name means one thing.
var packages = map[string]map[string]Spec{
	"database/sql": {
		"Exec": sql(0, 1), "Query": sql(0, 1), "QueryRow": sql(0, 1),
		"ExecContext": sql(1, 2), "QueryContext": sql(1, 2), "QueryRowContext": sql(1, 2),
	},
	"github.com/jmoiron/sqlx": {
		"Exec": sql(0, 1), "Query": sql(0, 1), "QueryRow": sql(0, 1), "MustExec": sql(0, 1),
		"ExecContext": sql(1, 2), "QueryContext": sql(1, 2), "QueryRowContext": sql(1, 2), "MustExecContext": sql(1, 2),
		"Queryx": sql(0, 1), "QueryRowx": sql(0, 1), "QueryxContext": sql(1, 2), "QueryRowxContext": sql(1, 2),
		"Get": sql(1, 2), "Select": sql(1, 2), "GetContext": sql(2, 3), "SelectContext": sql(2, 3),
		"NamedExec": sql(0, 1), "NamedExecContext": sql(1, 2), "NamedQuery": sql(0, 1), "NamedQueryContext": sql(1, 2),
	},
	"github.com/jackc/pgx/v5": {
		"Exec": sql(1, 2), "Query": sql(1, 2), "QueryRow": sql(1, 2), "Queue": sql(0, 1),
		"CopyFrom": {Store: SQL, Op: Put, Text: -1, Args: -1, Key: 1, Input: -1, Verb: "COPY"},
	},
	"github.com/jackc/pgx/v5/pgxpool": {
		"Exec": sql(1, 2), "Query": sql(1, 2), "QueryRow": sql(1, 2),
		"CopyFrom": {Store: SQL, Op: Put, Text: -1, Args: -1, Key: 1, Input: -1, Verb: "COPY"},
	},
	"gorm.io/gorm": {"Exec": sql(0, 1), "Raw": sql(0, 1)},
	"github.com/uptrace/bun": {
		"NewRaw": sql(0, 1), "Exec": sql(0, 1), "Query": sql(0, 1), "QueryRow": sql(0, 1),
		"ExecContext": sql(1, 2), "QueryContext": sql(1, 2), "QueryRowContext": sql(1, 2), "Raw": sql(0, 1),
	},
	// The text is in the chain.
	"github.com/Masterminds/squirrel": {
		"Query": sql(-1, -1), "QueryContext": sql(-1, -1), "QueryRow": sql(-1, -1), "QueryRowContext": sql(-1, -1),
		"Scan": sql(-1, -1), "ScanContext": sql(-1, -1),
	},

	"github.com/redis/go-redis/v9": {
		"Get": kv(Redis, Read, 1), "HGet": kv(Redis, Read, 1), "HGetAll": kv(Redis, Read, 1), "MGet": kv(Redis, Read, 1),
		"HMGet": kv(Redis, Read, 1), "GetEx": kv(Redis, Read, 1), "GetRange": kv(Redis, Read, 1), "LRange": kv(Redis, Read, 1),
		"ZScore": kv(Redis, Read, 1), "Exists": kv(Redis, Read, 1), "TTL": kv(Redis, Read, 1), "PTTL": kv(Redis, Read, 1),
		"Set": kv(Redis, Put, 1), "SetEx": kv(Redis, Put, 1), "SetXX": kv(Redis, Put, 1), "MSet": kv(Redis, Put, 1),
		"HSet": kv(Redis, Put, 1), "HMSet": kv(Redis, Put, 1), "HDel": kv(Redis, Remove, 1), "GetSet": kv(Redis, Put, 1),
		"LSet": kv(Redis, Put, 1), "LRem": kv(Redis, Remove, 1), "LTrim": kv(Redis, Remove, 1), "SRem": kv(Redis, Remove, 1),
		"ZAdd": kv(Redis, Put, 1), "ZRem": kv(Redis, Remove, 1), "SAdd": kv(Redis, Append, 1), "JSONSet": kv(Redis, Put, 1),
		"LPush": kv(Redis, Append, 1), "RPush": kv(Redis, Append, 1), "XAdd": kv(Redis, Append, 1),
		"HIncrBy": kv(Redis, Append, 1), "Incr": kv(Redis, Append, 1), "IncrBy": kv(Redis, Append, 1), "Decr": kv(Redis, Append, 1),
		"Del": kv(Redis, Remove, 1), "Unlink": kv(Redis, Remove, 1), "GetDel": kv(Redis, Remove, 1), "Rename": kv(Redis, Put, 2),
		"Expire": kv(Redis, Renew, 1), "PExpire": kv(Redis, Renew, 1), "ExpireAt": kv(Redis, Renew, 1), "PExpireAt": kv(Redis, Renew, 1),
		"SetArgs": {Store: Redis, Op: Put, Text: -1, Args: -1, Key: 1, Input: -1, Options: 3},
		"SetNX":   kv(Redis, Claim, 1), "HSetNX": kv(Redis, Conditional, 1),
		"Eval": {Store: Redis, Op: Script, Text: 1, Args: 3, Key: 2, Input: -1}, "EvalSha": kv(Redis, Script, -1),
		"Run": {Store: Redis, Op: Script, Text: -1, Args: 3, Key: 2, Input: -1, Self: true}, "RunRO": kv(Redis, Read, -1),
	},

	"go.etcd.io/etcd/client/v3": {
		"Get": kv(Etcd, Read, 1), "Put": kv(Etcd, Put, 1), "Delete": kv(Etcd, Remove, 1),
		"Commit": kv(Etcd, Transaction, -1),
	},

	"github.com/hashicorp/consul/api": {
		"Get": kv(Consul, Read, 0), "List": kv(Consul, Read, 0),
		"Put": request(Consul, Put, 0), "Delete": kv(Consul, Remove, 0), "DeleteTree": kv(Consul, Remove, 0),
		"CAS": request(Consul, Conditional, 0), "DeleteCAS": request(Consul, Conditional, 0),
		"Txn": kv(Consul, Transaction, 0),
	},

	// A Redis client whose commands are built: see rueidis.go.
	"github.com/redis/rueidis": {"Do": kv(Redis, Read, -1)},

	"github.com/nats-io/nats.go/jetstream": natsKV(1),
	"github.com/nats-io/nats.go":           natsKV(0),

	"cloud.google.com/go/storage": {
		"NewReader": kv(GCS, Read, -1), "NewRangeReader": kv(GCS, Read, -1), "Attrs": kv(GCS, Read, -1),
		"NewWriter": chained(Put), "Update": chained(Put), "Delete": chained(Remove),
		"CopierFrom": chained(Put), "ComposerFrom": chained(Put),
	},

	azblob: {
		"UploadBuffer": {Store: Azure, Op: Put, Text: -1, Args: -1, Key: 2, Input: 4}, "UploadFile": {Store: Azure, Op: Put, Text: -1, Args: -1, Key: 2, Input: 4},
		"UploadStream": {Store: Azure, Op: Put, Text: -1, Args: -1, Key: 2, Input: 4}, "DeleteBlob": {Store: Azure, Op: Remove, Text: -1, Args: -1, Key: 2, Input: 3},
		"DownloadStream": kv(Azure, Read, 2), "DownloadBuffer": kv(Azure, Read, 2),
	},
	azblob + "/blockblob": {
		"Upload": request(Azure, Put, 2), "UploadBuffer": request(Azure, Put, 2), "UploadFile": request(Azure, Put, 2), "UploadStream": request(Azure, Put, 2),
		"CommitBlockList": request(Azure, Put, 2), "UploadBlobFromURL": request(Azure, Put, 2), "Delete": request(Azure, Remove, 1),
	},
	azblob + "/blob": {"Delete": request(Azure, Remove, 1), "DownloadStream": kv(Azure, Read, -1)},

	"go.mongodb.org/mongo-driver/mongo":    mongo,
	"go.mongodb.org/mongo-driver/v2/mongo": mongo,

	"github.com/twmb/franz-go/pkg/kgo": {
		"Produce": kv(Kafka, Append, -1), "ProduceSync": kv(Kafka, Append, -1), "EndTransaction": kv(Kafka, Conditional, -1), // fenced by the transactional id
	},
	"github.com/hashicorp/raft": {"Apply": kv(Raft, Conditional, -1), "ApplyLog": kv(Raft, Conditional, -1)}, // only a leader commits

	"sigs.k8s.io/controller-runtime/pkg/client": {
		"Get": request(Kubernetes, Read, 1), "Update": request(Kubernetes, Put, 1), "Patch": request(Kubernetes, Put, 1),
		"Delete": request(Kubernetes, Remove, 1), "Create": request(Kubernetes, Append, 1),
	},

	"github.com/aws/aws-sdk-go-v2/service/s3": {
		"GetObject": request(S3, Read, 1), "HeadObject": request(S3, Read, 1), "ListObjectsV2": request(S3, Read, 1),
		"PutObject": request(S3, Put, 1), "DeleteObject": request(S3, Remove, 1), "CopyObject": request(S3, Put, 1),
	},
	"github.com/aws/aws-sdk-go-v2/service/dynamodb": {
		"GetItem": request(DynamoDB, Read, 1), "Query": request(DynamoDB, Read, 1), "Scan": request(DynamoDB, Read, 1),
		"PutItem": request(DynamoDB, Put, 1), "DeleteItem": request(DynamoDB, Remove, 1), "UpdateItem": request(DynamoDB, Put, 1),
	},
}

const azblob = "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"

// natsKV is the key-value store of NATS, with and without a context.
func natsKV(key int) map[string]Spec {
	unless := func(op Op) Spec {
		s := kv(NATS, op, key)
		s.Unless = "LastRevision"
		return s
	}
	return map[string]Spec{
		"Get": kv(NATS, Read, key), "Put": kv(NATS, Put, key), "PutString": kv(NATS, Put, key),
		"Create": kv(NATS, Claim, key), "Update": kv(NATS, Conditional, key),
		"Delete": unless(Remove), "Purge": unless(Remove),
	}
}

// chained is a call on an object of GCS, conditional if its chain has an If.
func chained(op Op) Spec {
	c := kv(GCS, op, -1)
	c.Unless = "If"
	return c
}

// mongo are the methods of a collection; the filter comes after the context.
var mongo = map[string]Spec{
	"FindOne": kv(Mongo, Read, -1), "Find": kv(Mongo, Read, -1),
	"InsertOne": kv(Mongo, Append, -1), "InsertMany": kv(Mongo, Append, -1),
	"UpdateOne": request(Mongo, Filtered, 1), "UpdateMany": request(Mongo, Filtered, 1), "UpdateByID": kv(Mongo, Put, -1),
	"ReplaceOne": request(Mongo, Filtered, 1), "FindOneAndUpdate": request(Mongo, Filtered, 1), "FindOneAndReplace": request(Mongo, Filtered, 1),
	"DeleteOne": request(Mongo, Filtered, 1), "DeleteMany": request(Mongo, Filtered, 1), "FindOneAndDelete": request(Mongo, Filtered, 1),
}

// receivers narrows names that stand for several things in one package.
var receivers = map[string]map[string]bool{
	"github.com/hashicorp/consul/api": {"KV": true, "Txn": true},
	"go.etcd.io/etcd/client/v3":       {"KV": true, "Client": true, "Txn": true, "kv": true, "txn": true},
	"github.com/jackc/pgx/v5":         {"Conn": true, "Tx": true, "Batch": true, "dbTx": true},
	"gorm.io/gorm":                    {"DB": true},
	"github.com/uptrace/bun":          {"DB": true, "Tx": true, "Conn": true, "IDB": true, "IConn": true},
	"github.com/Masterminds/squirrel": {"SelectBuilder": true, "UpdateBuilder": true, "InsertBuilder": true, "DeleteBuilder": true},

	"github.com/nats-io/nats.go/jetstream": {"KeyValue": true},
	"github.com/nats-io/nats.go":           {"KeyValue": true},
	"cloud.google.com/go/storage":          {"ObjectHandle": true},
	azblob:                                 {"Client": true},
	azblob + "/blockblob":                  {"Client": true},
	azblob + "/blob":                       {"Client": true},
	"go.mongodb.org/mongo-driver/mongo":    {"Collection": true},
	"go.mongodb.org/mongo-driver/v2/mongo": {"Collection": true},
	"github.com/hashicorp/raft":            {"Raft": true},
}

// statements are the methods of prepared statements. Preparing one writes nothing.
var statements = map[string]Spec{
	"Exec": prepared(0), "Query": prepared(0), "QueryRow": prepared(0), "MustExec": prepared(0),
	"ExecContext": prepared(1), "QueryContext": prepared(1), "QueryRowContext": prepared(1), "MustExecContext": prepared(1),
	"Queryx": prepared(0), "QueryRowx": prepared(0), "QueryxContext": prepared(1), "QueryRowxContext": prepared(1),
	"Get": prepared(1), "Select": prepared(1), "GetContext": prepared(2), "SelectContext": prepared(2),
}

// conditionFields are the fields of request structs that make a call
// conditional.
var conditionFields = map[Store][]string{
	S3:       {"IfMatch", "IfNoneMatch", "CopySourceIfMatch", "CopySourceIfNoneMatch", "IfMatchLastModifiedTime"},
	DynamoDB: {"ConditionExpression", "Expected"},
	Consul:   {},
	Azure:    {"AccessConditions", "AccessCondition", "BlobAccessConditions"},
}

// keyFields are the fields of request structs that name what is written.
var keyFields = map[Store][]string{
	S3:       {"Key"},
	DynamoDB: {"TableName"},
	Consul:   {"Key"},
}

// StorePackage tells whether an import of path makes a package worth analysing.
func StorePackage(path string) bool {
	if _, ok := packages[path]; ok {
		return true
	}
	if _, ok := opaques[path]; ok {
		return true
	}
	switch path {
	case "k8s.io/client-go/dynamic", "k8s.io/client-go/kubernetes",
		"k8s.io/apimachinery/pkg/apis/meta/v1":
		return true
	}
	return strings.HasPrefix(path, "k8s.io/client-go/kubernetes/typed/")
}

// sqlShape are method names that mean SQL on any type whose signature has the
// shape of database/sql's or pgx's: (context?, string, ...any).
var sqlShape = map[string]bool{
	"Exec": true, "ExecContext": true, "Query": true, "QueryContext": true,
	"QueryRow": true, "QueryRowContext": true, "QueryxContext": true, "QueryRowxContext": true,
	"GetContext": true, "SelectContext": true, "NamedExecContext": true, "MustExec": true,
}

// kubeOptions maps the options type that a Kubernetes write takes to what it does.
var kubeOptions = map[string]Op{
	"UpdateOptions": Put, "PatchOptions": Append, "DeleteOptions": Remove, "CreateOptions": Append, "GetOptions": Read,
}

// Find returns what f does, if it is catalogued or has the shape of something
// that is.
func Find(f *types.Func) (Spec, bool) {
	if f == nil || f.Pkg() == nil {
		return Spec{}, false
	}
	sig := f.Type().(*types.Signature)
	path, name := f.Pkg().Path(), f.Name()
	if m, ok := packages[path]; ok {
		if sig.Recv() != nil && sqltext.IsPrepared(sig.Recv().Type()) {
			m = statements
		}
		s, ok := m[name]
		if !ok {
			return Spec{}, false
		}
		if rs := receivers[path]; rs != nil && !rs[receiverName(sig)] {
			return Spec{}, false
		}
		if s.Verb == "" {
			s.Verb = name
		}
		return s, true
	}
	if sig.Recv() == nil {
		return Spec{}, false
	}
	if s, ok := awsShape(sig, name); ok {
		s.Verb = name
		return s, true
	}
	if s, ok := shaped(sig, name); ok {
		s.Verb = name
		return s, true
	}
	return Spec{}, false
}

func receiverName(sig *types.Signature) string {
	if sig.Recv() == nil {
		return ""
	}
	t := types.Unalias(sig.Recv().Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

func shaped(sig *types.Signature, name string) (Spec, bool) {
	ps := sig.Params()
	if ps.Len() == 0 {
		return Spec{}, false
	}
	if sqlShape[name] && sig.Variadic() {
		i := 0
		if isContext(ps.At(0).Type()) {
			i = 1
		}
		if (name == "GetContext" || name == "SelectContext") && i == 1 {
			i = 2
		}
		if ps.Len() == i+2 && isString(ps.At(i).Type()) && isAnySlice(ps.At(i+1).Type()) {
			return sql(i, i+1), true
		}
	}
	if namedShape[name] && !sig.Variadic() {
		i := 0
		if isContext(ps.At(0).Type()) {
			i = 1
		}
		if ps.Len() == i+2 && isString(ps.At(i).Type()) && isAny(ps.At(i+1).Type()) {
			return sql(i, i+1), true
		}
	}
	return kubernetes(sig, name)
}

// namedShape are methods of sqlx's shape, whose values are one struct or map:
// (context?, string, any).
var namedShape = map[string]bool{"NamedExec": true, "NamedExecContext": true, "NamedQuery": true, "NamedQueryContext": true}

// awsShape recognises the methods of a program's own interface over an AWS
// client: (ctx, *s3.PutObjectInput, ...).
func awsShape(sig *types.Signature, name string) (Spec, bool) {
	if sig.Params().Len() < 2 {
		return Spec{}, false
	}
	p, ok := sig.Params().At(1).Type().(*types.Pointer)
	if !ok {
		return Spec{}, false
	}
	n, ok := types.Unalias(p.Elem()).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Name() != name+"Input" {
		return Spec{}, false
	}
	s, ok := packages[n.Obj().Pkg().Path()][name]
	return s, ok && s.Input == 1
}

// kubernetes recognises the methods of typed, dynamic and generated clients by
// their options parameter.
func kubernetes(sig *types.Signature, name string) (Spec, bool) {
	ps := sig.Params()
	for i := 1; i < ps.Len(); i++ {
		n, _ := types.Unalias(ps.At(i).Type()).(*types.Named)
		if n == nil || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != "k8s.io/apimachinery/pkg/apis/meta/v1" {
			continue
		}
		op, ok := kubeOptions[n.Obj().Name()]
		if !ok || !isContext(ps.At(0).Type()) {
			continue
		}
		switch name {
		case "Update", "UpdateStatus", "Patch", "Delete", "Create", "Get":
		default:
			return Spec{}, false
		}
		if name == "Patch" {
			op = Put
		}
		s := request(Kubernetes, op, 1)
		return s, true
	}
	return Spec{}, false
}

func isContext(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == "Context" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "context"
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.String
}

func isAnySlice(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	return isAny(s.Elem())
}

func isAny(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.NumMethods() == 0
}
