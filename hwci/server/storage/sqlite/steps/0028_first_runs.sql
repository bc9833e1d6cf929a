-- SPDX-License-Identifier: Apache-2.0
-- Keep what a page shows of episodes and merges where it finds them
-- (docs/adr/0100-a-page-reads-fewer-rows.md).

-- `first_ci_run`: the number that the CI shows of the first failing run, where it is another.
ALTER TABLE failure ADD COLUMN first_ci_run INTEGER;
UPDATE failure SET first_ci_run = (SELECT r.ci_run FROM product q CROSS JOIN report r
  ON r.org_id = q.org_id AND r.repo_key = q.repo_key AND r.run_id = failure.first_run_id
  AND r.run_attempt = failure.first_run_attempt AND r.box_key = failure.box_key
  WHERE q.org_id = failure.org_id AND q.id = failure.product_id);

-- The first failing run of an episode, with `started_at` and `verdict`: that of its first failure.
ALTER TABLE episode ADD COLUMN run_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE episode ADD COLUMN run_attempt INTEGER NOT NULL DEFAULT 0;
ALTER TABLE episode ADD COLUMN workflow TEXT NOT NULL DEFAULT '';
ALTER TABLE episode ADD COLUMN ci_run_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE episode ADD COLUMN ci_run INTEGER;
UPDATE episode SET (run_id, run_attempt, workflow, ci_run_id, ci_run) =
  (SELECT f.first_run_id, f.first_run_attempt, f.first_workflow, f.first_ci_run_id, f.first_ci_run
  FROM failure f WHERE f.org_id = episode.org_id AND f.id = episode.first_id);

-- A page counts the decided episodes of each class, and finds the newest of them, in an index alone.
DROP INDEX episode_time;
CREATE INDEX episode_time ON episode (org_id, product_id, started_at, fix_rank, reviewed);
CREATE INDEX episode_settled ON episode
  (org_id, product_id, decided_by, decision, started_at, first_id, fix_rank, reviewed)
  WHERE fix_rank < 9223372036854775807 AND reviewed = 0 AND decision IS NOT NULL;

-- So with merges: all of them, and those that no report checks.
DROP INDEX announcement_time;
CREATE INDEX announcement_time ON announcement (org_id, merged_at, repo_key, suite);
CREATE INDEX announcement_unchecked ON announcement (org_id, merged_at, repo_key, suite)
  WHERE checks = 0;
