-- Where a machine can send mail, an account may have an address: private, and gone with the account.
ALTER TABLE accounts ADD COLUMN mail TEXT;
-- When its owner has shown that mail to it arrives; null: not yet. Only then does it lead back to the account.
ALTER TABLE accounts ADD COLUMN mail_ms BIGINT;
CREATE INDEX accounts_mail ON accounts (lower(mail));
-- Links have two more kinds. mailed: sets a new password, sent to the account's address; address: confirms that address.

-- The second factor of an organiser: the secret of an app that shows codes (TOTP). It stands here as it is, because codes are computed from it.
CREATE TABLE factors (
    account_id BIGINT PRIMARY KEY REFERENCES accounts (id),
    -- Twenty bytes, in base64.
    secret TEXT NOT NULL,
    -- When a code of it was first shown to be right; null: not yet, and nobody is asked for one.
    on_ms BIGINT,
    -- The 30 seconds, counted from 1970, of the last code that was accepted: it and earlier ones are not again.
    step BIGINT NOT NULL,
    checksum BIGINT
);
