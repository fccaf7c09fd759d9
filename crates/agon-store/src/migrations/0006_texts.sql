-- Texts of the workbench: what somebody has written, the newest of each. Gone with the account.
CREATE TABLE texts (
    id @id,
    contest_id BIGINT NOT NULL REFERENCES contests (id),
    account_id BIGINT NOT NULL REFERENCES accounts (id),
    -- The team it was written for; null while its author has none.
    entrant_id BIGINT REFERENCES entrants (id),
    made_ms BIGINT NOT NULL,
    kept_ms BIGINT NOT NULL,
    note TEXT,
    -- Its files: JSON, packed, in base64.
    files TEXT NOT NULL,
    -- Lines that the one before it does not have, and that it has no more.
    more BIGINT NOT NULL,
    fewer BIGINT NOT NULL,
    -- The last match in which it sat, and where. No reference: drafts are forgotten after a day.
    match_id BIGINT,
    seat BIGINT,
    -- What came of that match, once it is known.
    did TEXT,
    -- As which version it was handed in, and under which name of the request.
    version_id BIGINT REFERENCES versions (id),
    request TEXT,
    checksum BIGINT
);
CREATE INDEX texts_account ON texts (account_id, id);
CREATE INDEX texts_team ON texts (entrant_id);
CREATE INDEX texts_open ON texts (match_id) WHERE match_id IS NOT NULL AND did IS NULL;

-- Drafts whose team plays by rules of its own.
CREATE TABLE own_rules (
    block_id BIGINT PRIMARY KEY REFERENCES blocks (id),
    -- JSON: the ground in full, and what differs on it from the contest's.
    rules TEXT NOT NULL,
    checksum BIGINT
);
