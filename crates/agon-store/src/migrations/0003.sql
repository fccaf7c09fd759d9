-- What the organiser decides and may change, as JSON, the same for every server of the contest. Null until the first start of a program that
-- keeps it here: that start takes it from the contest's file.
ALTER TABLE contests ADD COLUMN settings TEXT;

-- Servers of a contest, and what their files say.
CREATE TABLE servers (
    contest_id BIGINT NOT NULL REFERENCES contests (id),
    name TEXT NOT NULL,
    seen_ms BIGINT NOT NULL,
    -- The settings in its file, by key, in the words of `agon serve set`: JSON.
    file TEXT NOT NULL,
    checksum BIGINT,
    PRIMARY KEY (contest_id, name)
);

-- Versions that stood for their teams when the contest's image was changed, and still have to pass a check match in the new one. Check
-- matches up to this one were before that.
CREATE TABLE rechecks (
    version_id BIGINT PRIMARY KEY REFERENCES versions (id),
    after_match BIGINT NOT NULL,
    checksum BIGINT
);

-- Codes by which an owner who has forgotten the password sets another, each once: 80 bits of which the hash is kept.
CREATE TABLE recovery_codes (
    sha TEXT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id),
    checksum BIGINT
);
CREATE INDEX recovery_codes_account ON recovery_codes (account_id);
