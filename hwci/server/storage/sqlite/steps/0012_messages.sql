-- SPDX-License-Identifier: Apache-2.0
-- Add the message of a failed test.

ALTER TABLE item ADD COLUMN message TEXT;
