-- A contest that plays what is planned and plans nothing more; it is paused when that is played.
ALTER TABLE contests ADD COLUMN draining BOOLEAN NOT NULL DEFAULT FALSE;

-- Versions that are not planned with, because their matches came to nothing: from when until when, and why.
CREATE TABLE suspensions (
    version_id BIGINT NOT NULL REFERENCES versions (id),
    from_ms BIGINT NOT NULL,
    why TEXT NOT NULL,
    to_ms BIGINT,
    PRIMARY KEY (version_id, from_ms)
);
CREATE INDEX suspensions_open ON suspensions (version_id) WHERE to_ms IS NULL;
