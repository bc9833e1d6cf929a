-- SPDX-License-Identifier: Apache-2.0
-- Add indexes by age for what is deleted when it is old.

-- Indexes that find old rows without reading the rest.
CREATE INDEX refresh_token_expiry ON refresh_token (expires_at);
CREATE INDEX invite_end ON invite (coalesce(used_at, expires_at));
CREATE INDEX live_run_lost ON live_run (heard_at) WHERE lost = 1;
