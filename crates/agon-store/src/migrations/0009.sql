-- A server asks twenty times a second whether a version waits to be admitted.
CREATE INDEX versions_waiting ON versions (id) WHERE state IN ('received', 'building', 'checking');
