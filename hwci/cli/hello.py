# SPDX-License-Identifier: Apache-2.0
"""The connectivity check before the tests, by a command of the user's: its exit status says whether
the hardware was reached (spec, "Run report").
"""

import subprocess
import sys

from hwci.cli.render import note


def hello_ok(command: str) -> bool:
    """Run the check in the shell. What it prints goes to stderr: stdout is for data."""
    sys.stderr.flush()
    done = subprocess.run(command, shell=True, stdout=2, check=False)  # noqa: S602 - the user's own
    if done.returncode != 0:
        note(f"The hello command failed with status {done.returncode}: the box was not reached.")
    return done.returncode == 0
