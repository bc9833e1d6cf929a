# SPDX-License-Identifier: Apache-2.0
"""Data flows down: the command line makes one call, and what turns a job into a delivered report
stands below it.
"""

import re
import subprocess
import sys
from pathlib import Path

FOLLOW = Path(__file__).parents[1] / "support/way_of_a_report.py"


def test_a_report_never_comes_back_to_the_command_line_on_its_way_to_the_wire() -> None:
    followed = subprocess.run([sys.executable, FOLLOW], capture_output=True, text=True, check=True)

    assert " (ci/reporting/run.py)" in followed.stdout
    assert " (client/_sync.py)" in followed.stdout
    assert re.findall(r"climbs .* to .* \(cli/.*", followed.stdout) == []
