-- The schema. @id is a number that the database gives; everything else is the same in both databases.
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
    -- It plays what is planned and plans nothing more; it is paused when that is played.
    draining BOOLEAN NOT NULL DEFAULT FALSE,
    -- The number of the last block.
    blocks BIGINT NOT NULL,
    made_ms BIGINT NOT NULL
);

-- Who plays in a contest: teams, and bosses. Each has one bot at a time.
CREATE TABLE entrants (
    id @id,
    contest_id BIGINT NOT NULL REFERENCES contests (id),
    name TEXT NOT NULL,
    -- The name as it is compared: no two entrants may look alike.
    likeness TEXT NOT NULL,
    boss BOOLEAN NOT NULL,
    made_ms BIGINT NOT NULL,
    -- With it others join; shown to members.
    join_code TEXT,
    -- Set when its last member was deleted: its uploads are gone then.
    withdrawn_ms BIGINT,
    UNIQUE (contest_id, likeness)
);
CREATE UNIQUE INDEX entrants_code ON entrants (join_code) WHERE join_code IS NOT NULL;

-- What plays. Never changed but for its state.
CREATE TABLE versions (
    id @id,
    entrant_id BIGINT NOT NULL REFERENCES entrants (id),
    n BIGINT NOT NULL,
    -- A bot inside the program, as `builtin:NAME`; null where it was uploaded.
    builtin TEXT,
    -- The hash of what was uploaded, or of the built-in's name and program.
    source_sha TEXT NOT NULL,
    received_ms BIGINT NOT NULL,
    -- received, building, checking, trial, live, former, failed, draft
    state TEXT NOT NULL,
    reason TEXT,
    -- Why it failed, as JSON: whose doing, at which step, what to do.
    cause TEXT,
    -- What its build said: an object that belongs to the entrant.
    log_sha TEXT,
    -- Whether it takes the place of the one before only when it is better.
    only_if_better BOOLEAN NOT NULL DEFAULT FALSE,
    -- How much was handed in.
    bytes BIGINT NOT NULL DEFAULT 0,
    UNIQUE (entrant_id, n),
    UNIQUE (entrant_id, source_sha)
);
-- A server asks twenty times a second whether a version waits to be admitted.
CREATE INDEX versions_waiting ON versions (id) WHERE state IN ('received', 'building', 'checking');

-- When a version came to be what: received, building, checking, trial, live, former, failed. The last time of each.
CREATE TABLE steps (
    version_id BIGINT NOT NULL REFERENCES versions (id),
    state TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (version_id, state)
);

-- Which version stood for its entrant, and when.
CREATE TABLE entries (
    version_id BIGINT NOT NULL REFERENCES versions (id),
    from_ms BIGINT NOT NULL,
    to_ms BIGINT,
    PRIMARY KEY (version_id, from_ms)
);

-- Versions that are not planned with, because their matches came to nothing: from when until when, and why.
CREATE TABLE suspensions (
    version_id BIGINT NOT NULL REFERENCES versions (id),
    from_ms BIGINT NOT NULL,
    why TEXT NOT NULL,
    to_ms BIGINT,
    PRIMARY KEY (version_id, from_ms)
);
CREATE INDEX suspensions_open ON suspensions (version_id) WHERE to_ms IS NULL;

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

CREATE TABLE blocks (
    id @id,
    contest_id BIGINT NOT NULL REFERENCES contests (id),
    n BIGINT NOT NULL,
    -- check, draft, challenge, promotion, ladder, again
    kind TEXT NOT NULL,
    map BIGINT NOT NULL,
    seed BIGINT NOT NULL,
    made_ms BIGINT NOT NULL,
    -- Who asked for it, where somebody did: challenges and drafts. Their numbers are below 0, and their seeds were chosen.
    asked_by BIGINT REFERENCES entrants (id),
    -- A promotion block: of which version.
    trial_id BIGINT REFERENCES versions (id),
    -- The number of the block whose seed this one has, where it is its twin.
    twin_of BIGINT,
    UNIQUE (contest_id, n)
);
CREATE INDEX blocks_trial ON blocks (trial_id) WHERE trial_id IS NOT NULL;
CREATE INDEX blocks_asked ON blocks (asked_by, made_ms) WHERE asked_by IS NOT NULL;

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
-- What is counted for whoever looks on is counted from what is few, however long the log is.
CREATE INDEX matches_dead ON matches (id) WHERE state = 'dead';
-- Valid, and no result of the contest: drafts, and what is played again.
CREATE INDEX matches_aside ON matches (id) WHERE log_seq = 0;

CREATE TABLE seats (
    match_id BIGINT NOT NULL REFERENCES matches (id),
    seat BIGINT NOT NULL,
    version_id BIGINT NOT NULL REFERENCES versions (id),
    rank BIGINT,
    score DOUBLE PRECISION,
    fault TEXT,
    max_ms DOUBLE PRECISION,
    -- What of the match belongs to the author of the seat's bot: an object.
    own_sha TEXT,
    PRIMARY KEY (match_id, seat)
);
CREATE INDEX seats_version ON seats (version_id, match_id);

CREATE TABLE workers (
    id @id,
    name TEXT NOT NULL UNIQUE,
    -- How far bots are held back there.
    level TEXT NOT NULL,
    seen_ms BIGINT NOT NULL,
    -- Workers on other machines come with a token of their own. The one inside has none.
    token_sha TEXT,
    made_ms BIGINT,
    revoked_ms BIGINT,
    -- The process that was admitted last under the token, and what it said of its machine, as JSON.
    run TEXT,
    about TEXT,
    -- A worker that stands out plays nothing more until an organiser lets it: since when, and why.
    paused_ms BIGINT,
    paused_why TEXT,
    -- What it did before says nothing of it any more.
    counted_ms BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX workers_token ON workers (token_sha) WHERE token_sha IS NOT NULL;

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
    lease_id BIGINT REFERENCES leases (id),
    -- A share of rated matches is played again by another worker: the one that a job is not for has played it first.
    but_id BIGINT REFERENCES workers (id)
);
CREATE INDEX jobs_free ON jobs (lane, id) WHERE lease_id IS NULL;
CREATE INDEX jobs_leased ON jobs (lease_id) WHERE lease_id IS NOT NULL;
CREATE INDEX jobs_again ON jobs (id) WHERE but_id IS NOT NULL;

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
    -- Of a void try: the seat, from 0, of the bot whose doing it was, and what was counted (JSON), from which that follows.
    by_seat BIGINT,
    counted TEXT,
    PRIMARY KEY (match_id, n)
);
CREATE INDEX attempts_worker ON attempts (worker_id, ended_ms);
CREATE INDEX attempts_vain ON attempts (match_id) WHERE how <> 'posted';
CREATE INDEX attempts_void ON attempts (ended_ms) WHERE how = 'void';

-- What came of matches that were played again. It stays when the second match is forgotten.
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
-- Rulings are the rows that are of no match.
CREATE INDEX log_rulings ON log (contest_id, seq) WHERE match_id IS NULL;

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

-- People: accounts, the secrets by which they are known, and who plays for which entrant. No secret stands here, only hashes.
CREATE TABLE accounts (
    id @id,
    -- After deletion `withdrawn N`.
    name TEXT NOT NULL,
    -- The name as it is compared: no two people may look alike.
    likeness TEXT NOT NULL UNIQUE,
    -- An Argon2id hash in the PHC format; null when nobody can sign in any more.
    password TEXT,
    organiser BOOLEAN NOT NULL,
    made_ms BIGINT NOT NULL,
    withdrawn_ms BIGINT
);

-- Secrets of an account: 256 bits of which the hash is kept.
CREATE TABLE logins (
    id @id,
    account_id BIGINT NOT NULL REFERENCES accounts (id),
    sha TEXT NOT NULL UNIQUE,
    -- session, token
    kind TEXT NOT NULL,
    -- What its owner calls it.
    name TEXT NOT NULL,
    made_ms BIGINT NOT NULL,
    -- Written now and then, not with each request.
    seen_ms BIGINT NOT NULL,
    -- It is over then, or when it was not seen for so long.
    ends_ms BIGINT NOT NULL,
    idle_ms BIGINT NOT NULL
);
CREATE INDEX logins_account ON logins (account_id);

-- Links that are good once: their hash.
CREATE TABLE links (
    sha TEXT PRIMARY KEY,
    -- organiser: makes an account one; password: sets a new one for an account
    kind TEXT NOT NULL,
    account_id BIGINT REFERENCES accounts (id),
    made_ms BIGINT NOT NULL,
    ends_ms BIGINT NOT NULL
);

-- The code with which people sign up where a contest is not open. It is shown to organisers, who tell it to a room.
CREATE TABLE invites (
    contest_id BIGINT PRIMARY KEY REFERENCES contests (id),
    code TEXT NOT NULL,
    made_ms BIGINT NOT NULL
);

-- Who plays for which entrant, and when: at any time for one at most in a contest.
CREATE TABLE members (
    contest_id BIGINT NOT NULL REFERENCES contests (id),
    account_id BIGINT NOT NULL REFERENCES accounts (id),
    entrant_id BIGINT NOT NULL REFERENCES entrants (id),
    from_ms BIGINT NOT NULL,
    to_ms BIGINT,
    PRIMARY KEY (account_id, entrant_id, from_ms)
);
CREATE UNIQUE INDEX members_now ON members (contest_id, account_id) WHERE to_ms IS NULL;
CREATE INDEX members_entrant ON members (entrant_id) WHERE to_ms IS NULL;

-- How much of what an entrant's programs have written was kept on a day, counted from 1970 in UTC, in bytes as stored. Only the last days.
CREATE TABLE told (
    entrant_id BIGINT NOT NULL REFERENCES entrants (id),
    day BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (entrant_id, day)
);
