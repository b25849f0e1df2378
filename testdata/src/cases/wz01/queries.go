package wz01

// Statements of the shard store. whereOwned is the tail every write of an owner
// is supposed to have; $1 is the shard and $2 the owner's token.
const (
	updShard   = `UPDATE stream_shards SET `
	whereOwned = `, fence = $2 WHERE id = $1 AND fence <= $2`
	whereID    = ` WHERE id = $1`

	qCommit = updShard + `cursor_pos = greatest(cursor_pos, $3)` + whereOwned
	qMove   = updShard + `endpoint = $3` + whereOwned
	qDrain  = updShard + `draining = $2` + whereID
	qLoad   = `SELECT cursor_pos, endpoint, draining FROM stream_shards` + whereID
)
