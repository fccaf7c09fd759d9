-- What is counted for whoever looks on is counted from what is few, however long the log is.
CREATE INDEX matches_dead ON matches (id) WHERE state = 'dead';
-- Valid, and no result of the contest: drafts, and what is played again.
CREATE INDEX matches_aside ON matches (id) WHERE log_seq = 0;
CREATE INDEX attempts_vain ON attempts (match_id) WHERE how <> 'posted';
