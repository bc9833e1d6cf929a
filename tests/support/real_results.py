# SPDX-License-Identifier: Apache-2.0
"""Where the results of real boards are, which are not part of the repository: in the folder that
`HWCI_REAL_RESULTS` names, or beside the checkout. Each version has a folder, with a file a board.
"""

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).parents[3] / "shared" / "real" / "zephyr"
_FOLDER = Path(os.environ.get("HWCI_REAL_RESULTS", _BESIDE))


def real_results() -> Path:
    """Return the folder; skip the test if it is not there."""
    if not _FOLDER.is_dir():
        pytest.skip(f"no folder {_FOLDER}: HWCI_REAL_RESULTS names the one with the results")
    return _FOLDER
