-- A share of rated matches is played again by another worker: the one that a job is not for has played it first.
ALTER TABLE jobs ADD COLUMN but_id BIGINT REFERENCES workers (id);
CREATE INDEX jobs_again ON jobs (id) WHERE but_id IS NOT NULL;

-- What came of that. It stays when the second match is forgotten.
CREATE TABLE agains (
    -- The match of the ladder.
    of_id BIGINT PRIMARY KEY NOT NULL REFERENCES matches (id),
    -- The match as which it is played again. No reference: that one is forgotten.
    match_id BIGINT NOT NULL UNIQUE,
    first_id BIGINT NOT NULL REFERENCES workers (id),
    -- Who played it again, and when the two were compared.
    second_id BIGINT REFERENCES workers (id),
    at_ms BIGINT,
    -- 1 where the ranks are others, else 0.
    differs BIGINT
);
CREATE INDEX agains_open ON agains (match_id) WHERE at_ms IS NULL;
CREATE INDEX agains_compared ON agains (at_ms) WHERE at_ms IS NOT NULL;

-- A worker that stands out plays nothing more until an organiser lets it: since when, and why.
ALTER TABLE workers ADD COLUMN paused_ms BIGINT;
ALTER TABLE workers ADD COLUMN paused_why TEXT;
-- What it did before says nothing of it any more.
ALTER TABLE workers ADD COLUMN counted_ms BIGINT NOT NULL DEFAULT 0;
