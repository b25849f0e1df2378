package lease

// catalogue maps "import path|receiver|name" to what the call does; the
// receiver is left empty where the name alone is clear in its package.
var catalogue = map[string]Call{
	"k8s.io/client-go/tools/leaderelection|LeaderElector|IsLeader": {Kind: Check, Proof: True},

	"sigs.k8s.io/controller-runtime/pkg/manager|Manager|Elected": {Kind: Elected},

	"go.etcd.io/etcd/client/v3/concurrency|Mutex|Lock":        {Kind: Acquire},
	"go.etcd.io/etcd/client/v3/concurrency|Mutex|TryLock":     {Kind: Acquire},
	"go.etcd.io/etcd/client/v3/concurrency|Mutex|Unlock":      {Kind: Release},
	"go.etcd.io/etcd/client/v3/concurrency|Election|Campaign": {Kind: Acquire},
	"go.etcd.io/etcd/client/v3/concurrency|Election|Resign":   {Kind: Release},

	"go.etcd.io/etcd/client/v3/concurrency|Session|Done": {Kind: Lost},
	"go.etcd.io/etcd/client/v3/concurrency||NewLocker":   {Kind: Locker},

	"github.com/hashicorp/consul/api|Lock|Lock":         {Kind: Acquire},
	"github.com/hashicorp/consul/api|Lock|Unlock":       {Kind: Release},
	"github.com/hashicorp/consul/api|Semaphore|Acquire": {Kind: Acquire},
	"github.com/hashicorp/consul/api|Semaphore|Release": {Kind: Release},
	"github.com/hashicorp/consul/api|KV|Acquire":        {Kind: Acquire, Proof: True},
	"github.com/hashicorp/consul/api|KV|Release":        {Kind: Release},
	"github.com/hashicorp/consul/api|Session|Renew":     {Kind: Renew},

	"github.com/bsm/redislock|Client|Obtain": {Kind: Acquire},
	"github.com/bsm/redislock||Obtain":       {Kind: Acquire},
	"github.com/bsm/redislock|Lock|Refresh":  {Kind: Renew},
	"github.com/bsm/redislock|Lock|Release":  {Kind: Release},

	"github.com/go-redsync/redsync/v4|Mutex|Lock":           {Kind: Acquire},
	"github.com/go-redsync/redsync/v4|Mutex|LockContext":    {Kind: Acquire},
	"github.com/go-redsync/redsync/v4|Mutex|TryLock":        {Kind: Acquire},
	"github.com/go-redsync/redsync/v4|Mutex|TryLockContext": {Kind: Acquire},
	"github.com/go-redsync/redsync/v4|Mutex|Extend":         {Kind: Renew},
	"github.com/go-redsync/redsync/v4|Mutex|ExtendContext":  {Kind: Renew},
	"github.com/go-redsync/redsync/v4|Mutex|Unlock":         {Kind: Release},
	"github.com/go-redsync/redsync/v4|Mutex|UnlockContext":  {Kind: Release},

	"cirello.io/pglock|Client|Acquire":        {Kind: Acquire},
	"cirello.io/pglock|Client|AcquireContext": {Kind: Acquire},
	"cirello.io/pglock|Client|Do":             {Kind: Callback, Arg: 2},
	"cirello.io/pglock|Client|Release":        {Kind: Release},

	"cirello.io/dynamolock/v2|Client|AcquireLock":            {Kind: Acquire},
	"cirello.io/dynamolock/v2|Client|AcquireLockWithContext": {Kind: Acquire},
	"cirello.io/dynamolock/v2|Client|SendHeartbeat":          {Kind: Renew},
	"cirello.io/dynamolock/v2|Client|ReleaseLock":            {Kind: Release},
	"cirello.io/dynamolock/v2|Lock|Close":                    {Kind: Release},
	"cirello.io/dynamolock|Client|AcquireLock":               {Kind: Acquire},
	"cirello.io/dynamolock|Client|AcquireLockWithContext":    {Kind: Acquire},
	"cirello.io/dynamolock|Client|SendHeartbeat":             {Kind: Renew},
	"cirello.io/dynamolock|Client|ReleaseLock":               {Kind: Release},
	"cirello.io/dynamolock|Lock|Close":                       {Kind: Release},

	"github.com/go-zookeeper/zk|Lock|Lock":          {Kind: Acquire},
	"github.com/go-zookeeper/zk|Lock|LockWithData":  {Kind: Acquire},
	"github.com/go-zookeeper/zk|Lock|Unlock":        {Kind: Release},
	"github.com/samuel/go-zookeeper/zk|Lock|Lock":   {Kind: Acquire},
	"github.com/samuel/go-zookeeper/zk|Lock|Unlock": {Kind: Release},

	"github.com/redis/rueidis/rueidislock|Locker|WithContext":      {Kind: Acquire},
	"github.com/redis/rueidis/rueidislock|Locker|TryWithContext":   {Kind: Acquire},
	"github.com/redis/rueidis/rueidislock|Locker|ForceWithContext": {Kind: Acquire},

	"github.com/go-co-op/gocron/v2|Locker|Lock":      {Kind: Acquire},
	"github.com/go-co-op/gocron/v2|Lock|Unlock":      {Kind: Release},
	"github.com/go-co-op/gocron/v2|Elector|IsLeader": {Kind: Check},
	"github.com/go-co-op/gocron/v2||NewTask": {Kind: Callback, With: []string{
		"WithDistributedLocker", "WithDistributedJobLocker", "WithDistributedElector"}},

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease|BlobClient|AcquireLease": {Kind: Acquire},
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease|BlobClient|RenewLease":   {Kind: Renew},
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease|BlobClient|ReleaseLease": {Kind: Release},
}

// callbackFields are struct fields whose functions run as owner.
var callbackFields = map[string]bool{
	"k8s.io/client-go/tools/leaderelection.LeaderCallbacks.OnStartedLeading": true,
}
