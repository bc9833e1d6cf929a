// SPDX-License-Identifier: Apache-2.0
// Words that the terminal shows too. `python -m docs.generate` writes this file from
// hwci/contract: each constant that a script imports of it.

export const BANDS = {
  "broken": "Broken",
  "flaky": "Probably flaky",
  "bench": "Blamed on the bench"
};
export const BOX_IS_REMOVED = "is removed, and its key stopped. Its runs stay.";
export const CHANGES_UNKNOWN = "The changes under test are unknown";
export const CLASSES = {
  "real_fw_bug": {
    "name": "Real firmware bug",
    "text": "a real firmware bug",
    "wouldBe": "Would be a real firmware bug if"
  },
  "bench_or_harness": {
    "name": "Bench or harness",
    "text": "a bench or harness problem",
    "wouldBe": "Would be the bench's or the harness's fault if"
  },
  "ambiguous": {
    "name": "Ambiguous",
    "text": "ambiguous",
    "wouldBe": "Would be ambiguous if"
  },
  "dismissed": {
    "name": "Dismissed",
    "text": "dismissed",
    "wouldBe": "Would count as dismissed if"
  }
};
export const IN_LOST_RUNS = "of them in runs that lost the board";
export const IT_NEVER_PASSED = "It never passed in this period";
export const MAY_HAVE_BROKEN = "May have broken it";
export const NEVER_REACHED = "Never reached the hardware";
export const NOTHING_LEFT_OUT = "CI left out nothing that could decide one of them";
export const NOTHING_TO_COUNT = {
  "mergesChecked": "No merge was announced in this period",
  "infraRuns": "No run was reported in this period"
};
export const NOT_CHECKED = "No run of it reached the hardware with a test";
export const NO_BOX_ANSWERS = "No box that ran it reached the hardware in its last run";
export const NO_PASS_BETWEEN = "with no pass between";
export const ONLY_KNOWN = "only known failures";
export const OTHERS_OF_A_KIND = "of this kind would do it, too";
export const PASSED_ON_A_RETRY = "passed on a retry";
export const SHARES_OF_A_BOX = {
  "reached": "Runs that reached the hardware",
  "lostBoard": "Of these, lost their board midway",
  "blamed": "Results that the harness blamed on the bench",
  "failedAttempts": "Attempts that failed, retries included"
};
export const STEPS = [
  {
    "title": "Did the harness blame the device?",
    "about": null,
    "claims": {
      "verdict_infra": "The harness did not blame the bench",
      "verdict_missing": "The harness reported a verdict"
    }
  },
  {
    "title": "Was firmware under test?",
    "about": "under test",
    "claims": {
      "paths_not_configured": "Firmware and harness paths are configured for this product",
      "changes_unknown": "The changes under test are known",
      "changes_incomplete": "Enough of the files changed under test were reported",
      "changes_not_firmware": "A commit under test changed firmware"
    }
  },
  {
    "title": "Did firmware alone fix it?",
    "about": "before the fix",
    "claims": {
      "fix_unconnected": "Run reports connect the failure to its fix without a gap",
      "fix_touched_harness": "No harness-only commit before the fix",
      "fix_not_firmware": "A change of firmware can have fixed it",
      "fix_mixed": "No commit before the fix changed both firmware and harness",
      "fix_incomplete": "All files changed before the fix were reported"
    }
  }
];
export const TIMES = {
  "toDetect": "From merge to failing run",
  "toFix": "From there to the fix"
};
export const TITLES = {
  "mergesChecked": "Merges checked on hardware",
  "uncheckedMerges": "Merges not checked on hardware",
  "realFwBugs": "Real FW bugs caught",
  "otherFailures": "Resolved by a bench or harness change, ambiguous or dismissed",
  "flakyFailures": "Flaky failures",
  "flakiestTests": "Flakiest tests",
  "infraRuns": "Infra runs",
  "timesToFix": "Time to detect and to fix"
};
export const TOOK_MORE = "took more than one attempt";
export const VERDICTS = {
  "device": "The harness blamed the device under test",
  "infra": "The harness blamed the bench",
  "unknown": "No harness verdict was reported"
};
export const WHOSE = {
  "this_change": "This change",
  "too_few": "Not enough data",
  "base": "Base branch",
  "flaky": "Flaky test",
  "bench": "Bench"
};
