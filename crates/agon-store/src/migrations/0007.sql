-- Workers on other machines come with a token of their own. The one inside has none.
ALTER TABLE workers ADD COLUMN token_sha TEXT;
ALTER TABLE workers ADD COLUMN made_ms BIGINT;
ALTER TABLE workers ADD COLUMN revoked_ms BIGINT;
-- The process that was admitted last under the token, and what it said of its machine, as JSON.
ALTER TABLE workers ADD COLUMN run TEXT;
ALTER TABLE workers ADD COLUMN about TEXT;
CREATE UNIQUE INDEX workers_token ON workers (token_sha) WHERE token_sha IS NOT NULL;
CREATE INDEX attempts_worker ON attempts (worker_id, ended_ms);
