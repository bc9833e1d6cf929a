-- SPDX-License-Identifier: Apache-2.0
-- Add the number that the CI shows for a run, and find runs by it.

ALTER TABLE report ADD COLUMN ci_run INTEGER;
ALTER TABLE live_run ADD COLUMN ci_run INTEGER;
CREATE INDEX report_ci_run ON report (org_id, coalesce(ci_run, ci_run_id));
