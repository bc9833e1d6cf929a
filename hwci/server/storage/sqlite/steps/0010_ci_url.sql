-- SPDX-License-Identifier: Apache-2.0
-- Add the page of the CI job to what CI and boxes sent.

ALTER TABLE announcement ADD COLUMN ci_url TEXT;
ALTER TABLE report ADD COLUMN ci_url TEXT;
ALTER TABLE live_run ADD COLUMN ci_url TEXT;
