# SPDX-License-Identifier: Apache-2.0
"""pytest's cases as tries: pytest writes the failure of a try that it tried again into no case.

This module decides how each case of a pytest suite ended, from those after it. Cases of other
runners mean what they say, and never come here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hwci.ci.results.junit.cases import CaseEntry


def pytest_tries(entries: Sequence[CaseEntry]) -> list[CaseEntry]:
    """Turn the earlier cases of a test into the failures that they were.

    A test is tried again only after it failed, by pytest-rerunfailures and by flaky. Up to 16.6,
    pytest-rerunfailures wrote the last try only: such a test seems to have been tried once.
    """
    tries: dict[str, list[CaseEntry]] = {}
    for entry in entries:
        own = tries.setdefault(entry.test_id, [])
        if own and own[-1].called and entry.teardown:
            continue  # pytest writes a case for a test that failed, and one for its teardown
        own.append(entry)
    return [case for own in tries.values() for case in _failed_before_the_last(own)]


def _failed_before_the_last(own: Sequence[CaseEntry]) -> Iterator[CaseEntry]:
    yield from (replace(entry, failed=True) for entry in own[:-1])
    yield own[-1]
