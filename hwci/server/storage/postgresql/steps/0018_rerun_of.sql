-- SPDX-License-Identifier: Apache-2.0
-- Add the run whose result made CI start the run of a report.

ALTER TABLE report ADD COLUMN rerun_of BIGINT;
