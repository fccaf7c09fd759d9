-- The first schema. @id is a number that the database gives; everything else is the same in both databases.
-- Times are milliseconds since 1970. Hashes are SHA-256 in hexadecimal. Text that holds JSON says so.

CREATE TABLE contests (
    id @id,
    name TEXT NOT NULL UNIQUE,
    game TEXT NOT NULL,
    -- Everything that decides results, as JSON; its hash stands at the root of the log.
    terms TEXT NOT NULL,
    -- Seeds of blocks come from it. Its hash is public from the first day.
    secret TEXT NOT NULL,
    secret_sha TEXT NOT NULL,
    paused BOOLEAN NOT NULL,
    -- The number of the last block.
    blocks BIGINT NOT NULL,
    made_ms BIGINT NOT NULL
);

CREATE TABLE entrants (
    id @id,
    contest_id BIGINT NOT NULL REFERENCES contests (id),
    name TEXT NOT NULL,
    -- The name as it is compared: no two entrants may look alike.
    likeness TEXT NOT NULL,
    boss BOOLEAN NOT NULL,
    made_ms BIGINT NOT NULL,
    UNIQUE (contest_id, likeness)
);

CREATE TABLE bots (
    id @id,
    entrant_id BIGINT NOT NULL UNIQUE REFERENCES entrants (id),
    name TEXT NOT NULL
);

-- What plays. Never changed but for its state.
CREATE TABLE versions (
    id @id,
    bot_id BIGINT NOT NULL REFERENCES bots (id),
    n BIGINT NOT NULL,
    -- A bot inside the program, as `builtin:NAME`; null where it was uploaded.
    builtin TEXT,
    -- The hash of what was uploaded, or of the built-in's name and program.
    source_sha TEXT NOT NULL,
    received_ms BIGINT NOT NULL,
    -- checking, live, former, failed
    state TEXT NOT NULL,
    reason TEXT,
    UNIQUE (bot_id, n),
    UNIQUE (bot_id, source_sha)
);

-- Which version stood for its bot, and when.
CREATE TABLE entries (
    version_id BIGINT NOT NULL REFERENCES versions (id),
    from_ms BIGINT NOT NULL,
    to_ms BIGINT,
    PRIMARY KEY (version_id, from_ms)
);

CREATE TABLE blocks (
    id @id,
    contest_id BIGINT NOT NULL REFERENCES contests (id),
    n BIGINT NOT NULL,
    -- check, challenge, ladder
    kind TEXT NOT NULL,
    map BIGINT NOT NULL,
    seed BIGINT NOT NULL,
    made_ms BIGINT NOT NULL,
    UNIQUE (contest_id, n)
);

CREATE TABLE matches (
    id @id,
    block_id BIGINT NOT NULL REFERENCES blocks (id),
    rotation BIGINT NOT NULL,
    -- planned, leased, posted, valid, dead
    state TEXT NOT NULL,
    -- The attempt that plays or was posted last.
    attempt BIGINT NOT NULL,
    -- What was posted, as JSON.
    result TEXT,
    replay_sha TEXT,
    -- What the replay says, as JSON; set once.
    outcome TEXT,
    log_seq BIGINT,
    settled_ms BIGINT,
    UNIQUE (block_id, rotation)
);
CREATE INDEX matches_posted ON matches (id) WHERE state = 'posted';
CREATE INDEX matches_unsealed ON matches (id) WHERE state = 'valid' AND log_seq IS NULL;

CREATE TABLE seats (
    match_id BIGINT NOT NULL REFERENCES matches (id),
    seat BIGINT NOT NULL,
    version_id BIGINT NOT NULL REFERENCES versions (id),
    rank BIGINT,
    score DOUBLE PRECISION,
    fault TEXT,
    max_ms DOUBLE PRECISION,
    PRIMARY KEY (match_id, seat)
);
CREATE INDEX seats_version ON seats (version_id, match_id);

CREATE TABLE workers (
    id @id,
    name TEXT NOT NULL UNIQUE,
    -- How far bots are held back there.
    level TEXT NOT NULL,
    seen_ms BIGINT NOT NULL
);

-- One row for a request that was granted. No index on until_ms: a beat changes that column alone.
CREATE TABLE leases (
    id @id,
    worker_id BIGINT NOT NULL REFERENCES workers (id),
    request TEXT NOT NULL,
    until_ms BIGINT NOT NULL,
    UNIQUE (worker_id, request)
);

-- Matches that wait or are being played. Small and hot; a row is deleted when its match was posted.
CREATE TABLE jobs (
    id @id,
    match_id BIGINT NOT NULL UNIQUE REFERENCES matches (id),
    contest_id BIGINT NOT NULL REFERENCES contests (id),
    lane BIGINT NOT NULL,
    not_before_ms BIGINT NOT NULL,
    tries BIGINT NOT NULL,
    lease_id BIGINT REFERENCES leases (id)
);
CREATE INDEX jobs_free ON jobs (lane, id) WHERE lease_id IS NULL;
CREATE INDEX jobs_leased ON jobs (lease_id) WHERE lease_id IS NOT NULL;

-- What was tried. Rows are ended once and never deleted.
CREATE TABLE attempts (
    match_id BIGINT NOT NULL REFERENCES matches (id),
    n BIGINT NOT NULL,
    worker_id BIGINT NOT NULL REFERENCES workers (id),
    leased_ms BIGINT NOT NULL,
    started_ms BIGINT,
    ended_ms BIGINT,
    -- posted, aborted, expired, lost (expired while it played), void, mismatch, unfit, overtaken (an older try came in late)
    how TEXT,
    why TEXT,
    -- The hash of the result that this try has posted, whatever came of it.
    result_sha TEXT,
    PRIMARY KEY (match_id, n)
);

-- The sealed results and rulings of a contest, in order, each with the hash of all before it.
CREATE TABLE log (
    contest_id BIGINT NOT NULL REFERENCES contests (id),
    seq BIGINT NOT NULL,
    match_id BIGINT UNIQUE REFERENCES matches (id),
    -- The row itself, as JSON: a table can be made from these alone.
    body TEXT NOT NULL,
    sha TEXT NOT NULL,
    PRIMARY KEY (contest_id, seq)
);

-- Who did what: the audit log.
CREATE TABLE events (
    id @id,
    contest_id BIGINT NOT NULL REFERENCES contests (id),
    at_ms BIGINT NOT NULL,
    actor TEXT NOT NULL,
    verb TEXT NOT NULL,
    object TEXT NOT NULL,
    detail TEXT NOT NULL
);

-- Tables that were made, each from the log up to a position. Can be thrown away.
CREATE TABLE rating_runs (
    contest_id BIGINT NOT NULL REFERENCES contests (id),
    upto_seq BIGINT NOT NULL,
    program TEXT NOT NULL,
    made_ms BIGINT NOT NULL,
    -- The table as JSON, and its hash.
    board TEXT NOT NULL,
    board_sha TEXT NOT NULL,
    PRIMARY KEY (contest_id, upto_seq, program)
);
