-- SPDX-License-Identifier: Apache-2.0
-- Keep of an account whether its e-mail was proved, as SQLite's step says.

ALTER TABLE "user" ADD COLUMN proved BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "user" ADD COLUMN notice TEXT COLLATE "C";
UPDATE "user" SET proved = 1 WHERE (encode(id, 'hex'), created_at) NOT IN (
  SELECT replace(target, '-', ''), at FROM audit_entry WHERE action = 'member.added');
UPDATE session SET ended_at = (SELECT max(s.created_at) FROM session s)
  WHERE ended_at IS NULL AND user_id IN (SELECT u.id FROM "user" u
    JOIN identity i ON i.user_id = u.id WHERE u.proved = 0 AND u.password_hash <> '');
UPDATE "user" SET proved = 1, password_hash = '' WHERE proved = 0
  AND id IN (SELECT user_id FROM identity);
