-- SPDX-License-Identifier: Apache-2.0
-- Index runs by the columns that people filter by.

-- Indexes by which the runs of a commit, by its beginning, and those of a branch are found in the
-- history of an organization; that of branches ends with the box, so that of runs of other boxes no
-- row is read. Live runs need none: there are few, since they end or are deleted.
CREATE INDEX report_sha_start ON report (org_id, sha);
CREATE INDEX report_branch ON report (org_id, branch, started_at DESC, record_id, box_key);
