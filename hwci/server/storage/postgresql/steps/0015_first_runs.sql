-- SPDX-License-Identifier: Apache-2.0
-- Keep what a page shows of episodes and merges where it finds them, as SQLite's step says.

ALTER TABLE failure ADD COLUMN first_ci_run BIGINT;
UPDATE failure SET first_ci_run = r.ci_run FROM product q, report r
  WHERE q.org_id = failure.org_id AND q.id = failure.product_id
  AND r.org_id = q.org_id AND r.repo_key = q.repo_key AND r.run_id = failure.first_run_id
  AND r.run_attempt = failure.first_run_attempt AND r.box_key = failure.box_key;

ALTER TABLE episode ADD COLUMN run_id BIGINT NOT NULL DEFAULT 0;
ALTER TABLE episode ADD COLUMN run_attempt BIGINT NOT NULL DEFAULT 0;
ALTER TABLE episode ADD COLUMN workflow TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE episode ADD COLUMN ci_run_id BIGINT NOT NULL DEFAULT 0;
ALTER TABLE episode ADD COLUMN ci_run BIGINT;
UPDATE episode SET run_id = f.first_run_id, run_attempt = f.first_run_attempt,
  workflow = f.first_workflow, ci_run_id = f.first_ci_run_id, ci_run = f.first_ci_run
  FROM failure f WHERE f.org_id = episode.org_id AND f.id = episode.first_id;

DROP INDEX episode_time;
CREATE INDEX episode_time ON episode (org_id, product_id, started_at, fix_rank, reviewed);
CREATE INDEX episode_settled ON episode
  (org_id, product_id, decided_by, decision, started_at, first_id)
  WHERE fix_rank < 9223372036854775807 AND reviewed = 0 AND decision IS NOT NULL;

DROP INDEX announcement_time;
CREATE INDEX announcement_time ON announcement (org_id, merged_at, repo_key, suite);
CREATE INDEX announcement_unchecked ON announcement (org_id, merged_at, repo_key, suite)
  WHERE checks = 0;
