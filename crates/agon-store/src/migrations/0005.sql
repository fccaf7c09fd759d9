-- Rulings are the rows of the log that are of no match.
CREATE INDEX log_rulings ON log (contest_id, seq) WHERE match_id IS NULL;
