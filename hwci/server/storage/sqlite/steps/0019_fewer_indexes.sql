-- SPDX-License-Identifier: Apache-2.0
-- Find the reports of a commit by one index.

-- One index finds the reports of a commit, by its beginning too. Those of a run are found by their
-- identity, which begins with the run.
DROP INDEX report_commit;
DROP INDEX report_sha;
DROP INDEX report_run;
DROP INDEX report_sha_start;
CREATE INDEX report_commit ON report (org_id, sha, product_id, box_key, hello_ok);
