# SPDX-License-Identifier: Apache-2.0
"""The commit that broke the test, or the range of commits that may have (semantics, 7).

This module decides which commits under test are suspects. It does not know what fixed the test.
"""

from hwci.engine.answers import BrokenBy
from hwci.engine.history import History
from hwci.engine.rules.labels import Group
from hwci.engine.rules.questions import UnderTest
from hwci.engine.rules.walk import last_place


def broken_by(history: History, group: Group, under_test: UnderTest) -> BrokenBy | None:
    """Give the commits under test "that changed a firmware file; if the last passed commit before
    the group is among the listed commits, only those after its last place there".

    So a bisection by hand narrows the range by itself. None, unknown or not configured: None.
    """
    changes, files = under_test.changes, under_test.files
    if changes is None or files is None:
        return None
    suspects = {
        at: commit
        for at, commit in enumerate(changes.commits)
        if files.firmware_touch(commit) is not None
    }
    if not suspects:
        return None
    lane, listed = group.first.key.lane, [commit.sha for commit in changes.commits]
    passed = history.last_pass_before(lane, group.first.place, listed)
    if passed is not None:
        after = last_place(changes.commits, passed)
        suspects = {at: commit for at, commit in suspects.items() if at > after}
    return BrokenBy(tuple(suspects.values())) if suspects else None
