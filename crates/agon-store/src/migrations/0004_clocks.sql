-- Servers whose clocks jumped, or are not those of the database, until they are trusted again. So a restart forgets nothing, and every server
-- shows it.
CREATE TABLE clock_doubts (
    contest_id BIGINT NOT NULL REFERENCES contests (id),
    server TEXT NOT NULL,
    -- By the time that held until then.
    since_ms BIGINT NOT NULL,
    -- How far the clock is ahead of that time; behind it where this is negative.
    ahead_ms BIGINT NOT NULL,
    -- How far it is ahead of the database's, where they differ.
    apart_ms BIGINT,
    confirmed BOOLEAN NOT NULL,
    checksum BIGINT,
    PRIMARY KEY (contest_id, server)
);
