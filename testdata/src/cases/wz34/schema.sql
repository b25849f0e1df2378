CREATE TABLE pipeline_runs (
    id               bigserial PRIMARY KEY,
    spec             jsonb NOT NULL,
    phase            text NOT NULL DEFAULT 'queued',
    note             text,
    cancel_requested boolean NOT NULL DEFAULT false,
    claim_id         uuid
);
