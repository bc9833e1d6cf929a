-- SPDX-License-Identifier: Apache-2.0
-- One index finds the reports of a commit, by its beginning too.

DROP INDEX report_commit;
DROP INDEX report_sha;
DROP INDEX report_run;
DROP INDEX report_sha_start;
CREATE INDEX report_commit ON report (org_id, sha, product_id, box_key, hello_ok);
