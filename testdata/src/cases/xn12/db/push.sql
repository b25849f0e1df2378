-- name: Enqueue :execrows
INSERT INTO push_msg (topic, body, dedupe) VALUES (@topic, @body, @dedupe)
ON CONFLICT (dedupe) DO NOTHING;

-- name: Receive :one
UPDATE push_msg SET delivery = delivery + 1, hidden_to = now() + interval '30 seconds'
WHERE id = (
  SELECT id FROM push_msg WHERE topic = @topic AND done_at IS NULL AND hidden_to < now()
  ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
)
RETURNING id, body, delivery;

-- name: Ack :execrows
UPDATE push_msg SET done_at = now() WHERE id = @id AND delivery = @delivery;

-- name: DropTopic :execrows
DELETE FROM push_msg WHERE topic = @topic;

-- name: Sweep :execrows
DELETE FROM push_msg WHERE done_at < now() - make_interval(days => @days);
