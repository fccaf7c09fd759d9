-- How much of what an entrant's programs have written was kept on a day, counted from 1970 in UTC, in bytes as stored. Only the last days.
CREATE TABLE told (
    entrant_id BIGINT NOT NULL REFERENCES entrants (id),
    day BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (entrant_id, day)
);
