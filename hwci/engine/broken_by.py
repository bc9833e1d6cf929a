# SPDX-License-Identifier: Apache-2.0
"""The commit that broke the test, or the range of commits that may have (semantics, 7).

This module decides which commits under test are suspects. It does not know what fixed the test.
"""

from hwci.engine.answers import BrokenBy
from hwci.engine.files import touch
from hwci.engine.groups import Group
from hwci.engine.history import History
from hwci.engine.questions import UnderTest
from hwci.engine.walk import last_place


def broken_by(history: History, group: Group, under_test: UnderTest) -> BrokenBy | None:
    """Give the commits under test "that changed a firmware file; if the last passed commit before
    the group is among the listed commits, only those after its last place there".

    So a bisection by hand narrows the range by itself. None, unknown or not configured: None.
    """
    changes, files = under_test.changes, under_test.files
    if changes is None or files is None:
        return None
    passed = history.last_pass_before(group.first.key.lane, group.first.place)
    start = 0 if passed is None else last_place(changes.commits, passed) + 1
    suspects = tuple(
        commit for commit in changes.commits[start:] if touch(commit, files.firmware) is not None
    )
    return BrokenBy(suspects) if suspects else None
