-- SPDX-License-Identifier: Apache-2.0
-- Add the program of a sign-in, disabled users, and reset links.

-- A user has at most one reset link, hence a column; it is found by its digest.
ALTER TABLE session ADD COLUMN client TEXT;
ALTER TABLE user ADD COLUMN disabled_at INTEGER;
ALTER TABLE user ADD COLUMN reset_digest BLOB;
ALTER TABLE user ADD COLUMN reset_expires_at INTEGER;
CREATE UNIQUE INDEX user_reset ON user (reset_digest) WHERE reset_digest IS NOT NULL;
