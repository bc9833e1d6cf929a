-- SPDX-License-Identifier: Apache-2.0
-- Add an id to invitations, and find them by it and by their organization.

-- An invitation has an id, by which it is accepted, declined or withdrawn without its token, and is
-- found by its organization; a provider's link, by its user.
ALTER TABLE invite ADD COLUMN id BLOB;
UPDATE invite SET id = randomblob(16);
CREATE UNIQUE INDEX invite_id ON invite (id);
CREATE INDEX invite_organization ON invite (org_id) WHERE used_at IS NULL;
CREATE INDEX identity_user ON identity (user_id);
