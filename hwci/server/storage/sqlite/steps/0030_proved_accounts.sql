-- SPDX-License-Identifier: Apache-2.0
-- Keep of an account whether its e-mail was proved, and what its person is to be told.

-- `proved`: the operator made the account, or a provider verified the e-mail. `notice`: told at the
-- next sign-in. Of an account of before that registered by an invitation nobody proved the e-mail: it
-- joined an organization the moment it was made. The operator may have made the others. One of these
-- that a provider was linked to may have been prepared by somebody else: its password and its sign-ins
-- end, and its person signs in through the provider.
ALTER TABLE user ADD COLUMN proved INTEGER NOT NULL DEFAULT 0;
ALTER TABLE user ADD COLUMN notice TEXT;
UPDATE user SET proved = 1 WHERE (lower(hex(id)), created_at) NOT IN (
  SELECT replace(target, '-', ''), at FROM audit_entry WHERE action = 'member.added');
UPDATE session SET ended_at = (SELECT max(s.created_at) FROM session s)
  WHERE ended_at IS NULL AND user_id IN (SELECT u.id FROM user u
    JOIN identity i ON i.user_id = u.id WHERE u.proved = 0 AND u.password_hash <> '');
UPDATE user SET proved = 1, password_hash = '' WHERE proved = 0
  AND id IN (SELECT user_id FROM identity);
