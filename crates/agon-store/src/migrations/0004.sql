-- How much an entrant has handed in.
ALTER TABLE versions ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
