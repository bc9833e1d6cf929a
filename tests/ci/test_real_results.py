# SPDX-License-Identifier: Apache-2.0
"""Real results of real boards, where they are at hand: 105 files, two of them broken."""

import os
from pathlib import Path

import pytest

from hwci.ci.junit import JunitFileError, read_junit
from hwci.ci.results import merged
from hwci.wire import limits

BESIDE = Path(__file__).parents[3] / "shared" / "real" / "zephyr"
FOLDER = Path(os.environ.get("HWCI_REAL_RESULTS", BESIDE))


@pytest.mark.skipif(
    not FOLDER.is_dir(),
    reason=f"no folder {FOLDER}: HWCI_REAL_RESULTS names the one with the boards' results",
)
def test_real_files_are_read_and_the_broken_ones_named_with_their_place() -> None:
    read, sizes, faults = 0, [], []
    for path in sorted(FOLDER.glob("*/*.xml.gz")):
        try:
            results = merged([read_junit(path)])
        except JunitFileError as fault:
            faults.append((f"{path.parent.name}/{path.name}", fault.position, str(fault)))
            continue
        read += 1
        sizes.append(len(results.tests))
        assert results.started_at is not None
        assert results.duration_s > 0

    assert read == 103
    assert max(sizes) > 3 * limits.TESTS_MAX
    assert [(name, position) for name, position, _ in faults] == [
        ("v4.3.0-6701-g28793caf8272/lpcxpresso54114_lpc54114_m4.xml.gz", (50483, 25)),
        ("v4.4.0-4655-g275ca3396f32/lpcxpresso54114_lpc54114_m4.xml.gz", (881, 114)),
    ]
    assert all("\n" not in line for _, _, line in faults)
