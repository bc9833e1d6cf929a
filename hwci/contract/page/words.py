# SPDX-License-Identifier: Apache-2.0
"""Words of the metrics page (spec, "Metrics page (dashboard)") and parts of sentences that the
terminal and the dashboard share, apart from shapes: a command reads them also where it only
explains itself.
"""

TITLES = {
    "mergesChecked": "Merges checked on hardware",
    "uncheckedMerges": "Merges not checked on hardware",
    "realFwBugs": "Real FW bugs caught",
    "otherFailures": "Resolved by a bench or harness change, ambiguous or dismissed",
    "flakyFailures": "Flaky failures",
    "flakiestTests": "Flakiest tests",
    "infraRuns": "Infra runs",
    "timesToFix": "Time to detect and to fix",
}
"""Its tiles and tables."""
NOTHING_TO_COUNT = {
    "mergesChecked": "No merge was announced in this period",
    "infraRuns": "No run was reported in this period",
}
"""What a tile says that is a share of nothing."""
TIMES = {"toDetect": "From merge to failing run", "toFix": "From there to the fix"}
"""The two times of an incident."""
BOX_IS_REMOVED = "is removed, and its key stopped. Its runs stay."
IN_LOST_RUNS = "of them in runs that lost the board"
OTHERS_OF_A_KIND = "of this kind would do it, too"
NO_PASS_BETWEEN = "with no pass between"
