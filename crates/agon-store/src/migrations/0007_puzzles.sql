-- What a lost match of the ladder teaches a team, as the engines of its page have found; or a position that an organiser has set for all.
CREATE TABLE puzzles (
    id @id,
    contest_id BIGINT NOT NULL REFERENCES contests (id),
    match_id BIGINT NOT NULL REFERENCES matches (id),
    -- Whose position it is, from 0.
    seat BIGINT NOT NULL,
    -- The team that lost; null where an organiser has set it.
    entrant_id BIGINT REFERENCES entrants (id),
    -- What was found, as JSON.
    lesson TEXT NOT NULL,
    -- Of one that an organiser has set: what it is called, and what it is about.
    title TEXT,
    concept TEXT,
    made_ms BIGINT NOT NULL,
    checksum BIGINT
);
CREATE UNIQUE INDEX puzzles_lost ON puzzles (entrant_id, match_id, seat) WHERE entrant_id IS NOT NULL;
CREATE INDEX puzzles_set ON puzzles (contest_id, id) WHERE entrant_id IS NULL;

-- What a team has answered to a puzzle.
CREATE TABLE puzzle_tries (
    puzzle_id BIGINT NOT NULL REFERENCES puzzles (id),
    entrant_id BIGINT NOT NULL REFERENCES entrants (id),
    n BIGINT NOT NULL,
    -- hand: by somebody; shown: nothing was answered, the best order was looked at
    how TEXT NOT NULL,
    -- As a bot writes it.
    answer TEXT NOT NULL,
    -- The chance after it, and its standard error.
    chance DOUBLE PRECISION NOT NULL,
    error DOUBLE PRECISION NOT NULL,
    solved BOOLEAN NOT NULL,
    at_ms BIGINT NOT NULL,
    checksum BIGINT,
    PRIMARY KEY (puzzle_id, entrant_id, n)
);

-- The positions in which each upload of a team is tried.
CREATE TABLE team_tests (
    id @id,
    entrant_id BIGINT NOT NULL REFERENCES entrants (id),
    match_id BIGINT NOT NULL REFERENCES matches (id),
    -- From 0.
    seat BIGINT NOT NULL,
    -- From 1.
    step BIGINT NOT NULL,
    -- What the answer must be, as JSON.
    wanted TEXT NOT NULL,
    made_ms BIGINT NOT NULL,
    checksum BIGINT
);
CREATE INDEX team_tests_entrant ON team_tests (entrant_id);
