-- Where the contest is continued, in the copy that was left behind: one row at most, and none in a copy that can be played.
CREATE TABLE moved (
    -- An address without its password, or a machine and a folder.
    place TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    -- gone: the contest is there now; arriving: it is there still, and this copy is not in use yet
    state TEXT NOT NULL
);
