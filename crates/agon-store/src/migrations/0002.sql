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

-- With it others join; shown to members.
ALTER TABLE entrants ADD COLUMN join_code TEXT;
-- Set when its last member was deleted: its uploads are gone then.
ALTER TABLE entrants ADD COLUMN withdrawn_ms BIGINT;
CREATE UNIQUE INDEX entrants_code ON entrants (join_code) WHERE join_code IS NOT NULL;
