-- compared: a token, an owner
UPDATE orders SET status = $1, fence = $2 WHERE id = $3 AND fence <= $2
UPDATE jobs SET state = 'done' WHERE id = $1 AND epoch = $2
UPDATE jobs SET result = $1 WHERE id = $2 AND lease_token = $3
UPDATE jobs SET result = $1 WHERE id = $2 AND locked_by = $3
UPDATE jobs SET result = $1 WHERE id = $2 AND owner = $3
UPDATE jobs SET result = ? WHERE id = ? AND worker_id = ?
UPDATE jobs SET result = $1 WHERE (id, attempt) = ($2, $3)
UPDATE jobs SET result = $1 FROM leases l WHERE jobs.id = $2 AND l.term = $3
DELETE FROM locks WHERE name = $1 AND owner = $2
DELETE FROM leases WHERE name = ? AND token = ? AND holder = ?
DELETE FROM jobs WHERE id = $1 AND attempt = $2 RETURNING id
-- compared: a version
UPDATE docs SET body = $1, version = version + 1 WHERE id = $2 AND version = $3
UPDATE docs SET body = $1 WHERE id = $2 AND etag = $3
UPDATE docs SET body = $1 WHERE id = $2 AND xmin = $3
-- compared: the state that changes
UPDATE jobs SET status = 'running' WHERE id = $1 AND status = 'pending'
UPDATE jobs SET status = 'running' WHERE id = $1 AND status IN ('pending', 'failed')
UPDATE jobs SET state = $1 WHERE id = $2 AND state = $3
UPDATE jobs SET leader = $1 WHERE leader IS NULL
UPDATE jobs SET claimed = true WHERE id = $1 AND claimed = false
UPDATE jobs SET finished_at = now() WHERE id = $1 AND finished_at IS NULL
DELETE FROM jobs WHERE id = $1 AND status = 'done'
-- compared: what has run out by the store's clock
UPDATE locks SET owner = $1, expires_at = now() + interval '1 min' WHERE name = $2 AND expires_at < now()
UPDATE locks SET x = $1 WHERE name = $2 AND (owner = $3 OR expires_at < CURRENT_TIMESTAMP)
UPDATE locks SET x = ? WHERE name = ? AND (owner = ? OR (expires_at < datetime('now') AND owner IS NULL))
DELETE FROM locks WHERE expires_at < now()
UPDATE q SET x = 1 WHERE id = (SELECT id FROM q WHERE x = 0 LIMIT 1 FOR UPDATE SKIP LOCKED)
UPDATE q SET x = 1 WHERE id IN (SELECT id FROM q WHERE x = 0 LIMIT 1 FOR UPDATE SKIP LOCKED)
UPDATE q SET x = 1 WHERE id = $1 AND EXISTS (SELECT 1 FROM leases WHERE name = 'a' AND epoch = $2)
-- compared: creates if absent
INSERT INTO runs (id) VALUES ($1) ON CONFLICT DO NOTHING
INSERT INTO runs (id, n) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET n = $2 WHERE runs.epoch < $2
INSERT OR IGNORE INTO runs (id) VALUES (?)
-- plain
UPDATE jobs SET result = $1
UPDATE jobs SET result = $1 WHERE id = $2
UPDATE jobs SET result = $1 WHERE id = $2 AND tenant_id = $3
UPDATE jobs SET result = $1 WHERE id = $2 AND created_by = $3
UPDATE jobs SET status = 'done' WHERE id = $1
UPDATE jobs SET result = $1 WHERE id = $2 AND status = 'running'
UPDATE jobs SET result = $1 WHERE id = $2 OR owner = $3
UPDATE jobs SET epoch = $1 WHERE id = $2
UPDATE jobs SET result = $1 WHERE a = b AND id IN ($2, $3)
DELETE FROM jobs
DELETE FROM jobs WHERE id = $1
DELETE FROM locks WHERE name = $1
DELETE FROM locks WHERE expires_at < $1
TRUNCATE jobs
INSERT INTO runs (id) VALUES ($1)
INSERT INTO runs (id, owner) VALUES ($1, $2)
INSERT INTO runs (id, n) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET n = excluded.n
INSERT INTO runs SELECT id FROM jobs
INSERT OR REPLACE INTO runs (id) VALUES (?)
REPLACE INTO runs (id) VALUES (?)
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = s.a
-- unclear: a piece is not known
UPDATE jobs SET result = $1 WHERE ◌
UPDATE jobs SET result = $1 WHERE id = $2 ◌
UPDATE jobs SET result = $1 ◌
DELETE FROM jobs WHERE ◌
INSERT INTO runs (id) VALUES ($1) ◌
INSERT INTO runs SELECT id FROM jobs WHERE ready
-- compared: the known part is enough
UPDATE ◌ SET result = $1 WHERE id = $2 AND epoch = $3
UPDATE jobs SET ◌ WHERE id = $2 AND epoch = $3
UPDATE jobs SET a = ◌ WHERE id = $2 AND epoch = $3
-- plain: what is not known is not the condition
UPDATE ◌ SET result = $1 WHERE id = $2
UPDATE jobs SET result = ◌ WHERE id = $2
