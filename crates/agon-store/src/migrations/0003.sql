-- What happens to an upload: its steps with their times, why it failed, what it said; promotion matches with their
-- verdict; challenges and drafts.

-- Why it failed, as JSON: whose doing, at which step, what to do.
ALTER TABLE versions ADD COLUMN cause TEXT;
-- What its build said: an object that belongs to the entrant.
ALTER TABLE versions ADD COLUMN log_sha TEXT;
-- Whether it takes the place of the one before only when it is better.
ALTER TABLE versions ADD COLUMN only_if_better BOOLEAN NOT NULL DEFAULT FALSE;

-- What of a match belongs to the author of the seat's bot: an object.
ALTER TABLE seats ADD COLUMN own_sha TEXT;

-- Who asked for it, where somebody did: challenges and drafts. Their numbers are below 0, and their seeds were chosen.
ALTER TABLE blocks ADD COLUMN asked_by BIGINT REFERENCES entrants (id);
-- A promotion block: of which version.
ALTER TABLE blocks ADD COLUMN trial_id BIGINT REFERENCES versions (id);
-- The number of the block whose seed this one has, where it is its twin.
ALTER TABLE blocks ADD COLUMN twin_of BIGINT;
CREATE INDEX blocks_trial ON blocks (trial_id) WHERE trial_id IS NOT NULL;
CREATE INDEX blocks_asked ON blocks (asked_by, made_ms) WHERE asked_by IS NOT NULL;

-- When a version came to be what: received, building, checking, trial, live, former, failed. The last time of each.
CREATE TABLE steps (
    version_id BIGINT NOT NULL REFERENCES versions (id),
    state TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (version_id, state)
);
INSERT INTO steps (version_id, state, at_ms) SELECT id, 'received', received_ms FROM versions;
INSERT INTO steps (version_id, state, at_ms) SELECT version_id, 'live', min(from_ms) FROM entries GROUP BY version_id;

-- A version against the one that it follows: is it better?
CREATE TABLE trials (
    version_id BIGINT PRIMARY KEY REFERENCES versions (id),
    against_id BIGINT NOT NULL REFERENCES versions (id),
    began_ms BIGINT NOT NULL,
    ended_ms BIGINT,
    -- The verdict as JSON; the last one known while it goes on.
    verdict TEXT
);
CREATE INDEX trials_open ON trials (version_id) WHERE ended_ms IS NULL;
