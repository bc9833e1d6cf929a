-- SPDX-License-Identifier: Apache-2.0
-- Write fewer indexes for each report (docs/adr/0096-what-a-report-writes.md).

-- `report_commit` finds the reports of a failure, and the key of `item` their items.
DROP INDEX item_failure;
-- `mention` finds the reports that list the same commits.
DROP INDEX report_changes;
-- `failure_at` finds the failures of a commit, and `episode_lane` the episodes that begin there.
DROP INDEX episode_first;
-- The oldest event of an organization has its smallest number.
DROP INDEX event_at;
-- A report makes episodes, a page decides them, and only a decision rests on a walk.
DROP INDEX episode_walk;
CREATE INDEX episode_walk ON episode (org_id, last_sha, fix_sha) WHERE decision IS NOT NULL;

-- Reports come in the order of their start, and are read from the last one back: so they are added
-- at the end of an index, which fills its pages, and not before all others, which splits them.
DROP INDEX report_started;
CREATE INDEX report_started ON report (org_id, started_at, record_id DESC);
DROP INDEX report_box;
CREATE INDEX report_box ON report (org_id, box_key, started_at, record_id DESC);
DROP INDEX report_branch;
CREATE INDEX report_branch ON report (org_id, branch, started_at, record_id DESC, box_key);
