-- SPDX-License-Identifier: Apache-2.0
-- Add what a reviewer writes about a failure.

ALTER TABLE review ADD COLUMN note TEXT;
ALTER TABLE review ADD COLUMN issue TEXT;
