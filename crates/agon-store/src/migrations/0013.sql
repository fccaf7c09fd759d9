-- Of a void try: the seat, from 0, of the bot whose doing it was, and what was counted (JSON), from which that follows.
ALTER TABLE attempts ADD COLUMN by_seat BIGINT;
ALTER TABLE attempts ADD COLUMN counted TEXT;
CREATE INDEX attempts_void ON attempts (ended_ms) WHERE how = 'void';
