-- Where the contest is continued, in the copy that was left behind: one row at most, and none in a copy that can be played.
CREATE TABLE moved (
    -- An address without its password, or a machine and a folder.
    place TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    -- gone: the contest is there now; arriving: it is there still, and this copy is not in use yet
    state TEXT NOT NULL
);

-- A checksum over all other columns of the row, so that damage is found. Whoever changes a row sets it to null; the writer renews it within
-- moments. Rows of the log have their chain.
ALTER TABLE contests ADD COLUMN checksum BIGINT;
ALTER TABLE entrants ADD COLUMN checksum BIGINT;
ALTER TABLE versions ADD COLUMN checksum BIGINT;
ALTER TABLE steps ADD COLUMN checksum BIGINT;
ALTER TABLE entries ADD COLUMN checksum BIGINT;
ALTER TABLE suspensions ADD COLUMN checksum BIGINT;
ALTER TABLE trials ADD COLUMN checksum BIGINT;
ALTER TABLE blocks ADD COLUMN checksum BIGINT;
ALTER TABLE matches ADD COLUMN checksum BIGINT;
ALTER TABLE seats ADD COLUMN checksum BIGINT;
ALTER TABLE workers ADD COLUMN checksum BIGINT;
ALTER TABLE leases ADD COLUMN checksum BIGINT;
ALTER TABLE jobs ADD COLUMN checksum BIGINT;
ALTER TABLE attempts ADD COLUMN checksum BIGINT;
ALTER TABLE agains ADD COLUMN checksum BIGINT;
ALTER TABLE events ADD COLUMN checksum BIGINT;
ALTER TABLE rating_runs ADD COLUMN checksum BIGINT;
ALTER TABLE accounts ADD COLUMN checksum BIGINT;
ALTER TABLE logins ADD COLUMN checksum BIGINT;
ALTER TABLE links ADD COLUMN checksum BIGINT;
ALTER TABLE invites ADD COLUMN checksum BIGINT;
ALTER TABLE members ADD COLUMN checksum BIGINT;
ALTER TABLE told ADD COLUMN checksum BIGINT;
-- Those of which there are many.
CREATE INDEX steps_changed ON steps (version_id) WHERE checksum IS NULL;
CREATE INDEX blocks_changed ON blocks (id) WHERE checksum IS NULL;
CREATE INDEX matches_changed ON matches (id) WHERE checksum IS NULL;
CREATE INDEX seats_changed ON seats (match_id) WHERE checksum IS NULL;
CREATE INDEX attempts_changed ON attempts (match_id) WHERE checksum IS NULL;
CREATE INDEX agains_changed ON agains (of_id) WHERE checksum IS NULL;
CREATE INDEX events_changed ON events (id) WHERE checksum IS NULL;

-- The audit log has a chain of its own. It is over the time and a hash of the words with a salt, so that words of a deleted person can go,
-- with the salt, and the chain stays whole. Entries of before it was kept have none.
ALTER TABLE events ADD COLUMN salt TEXT;
ALTER TABLE events ADD COLUMN words_sha TEXT;
ALTER TABLE events ADD COLUMN sha TEXT;
-- The row of the log that holds this hash, where one does: it proves all entries up to this one.
ALTER TABLE events ADD COLUMN log_seq BIGINT;
