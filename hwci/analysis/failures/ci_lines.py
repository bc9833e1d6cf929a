# SPDX-License-Identifier: Apache-2.0
"""The lines of CI that fill a gap, to paste: of the CI systems whose pages the reports name, else
the command line that any job may run.

This module decides by the address of a CI job which system it is, and what fills which gap. The
jobs that `hwci init` prints have the same lines. Those of each system are data, which
`hwci/contract/ci_systems.py` has.
"""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit

from hwci.contract.ci_systems import APPLY, CI_FILES, UNSHALLOW, CiFile, CiSystem
from hwci.contract.failures.explanations import CiLines
from hwci.contract.vocabulary import Gap


def system_of(address: str) -> CiSystem | None:
    """Return the CI system on which the page of a job is; None if its address does not tell."""
    parts = urlsplit(address)
    page = f"//{parts.netloc}{parts.path}"
    return next((system for system, file in CI_FILES.items() if file.page.search(page)), None)


def lines_of(gap: Gap, addresses: Iterable[str]) -> list[CiLines]:
    """Return what fills a gap in each CI system that these pages of jobs are of; where none is
    known, or the gap is not filled in CI's own file, the one text for all.
    """
    job, lines, for_all = _FILLINGS[gap]
    systems = dict.fromkeys(filter(None, map(system_of, addresses)))
    if lines is None or not systems:
        return [CiLines(ci=None, where=f"In {job}", lines=for_all)]
    files = ((system, CI_FILES[system]) for system in systems)
    return [
        CiLines(ci=system, where=f"In {file.name}, in {job}", lines=lines(file))
        for system, file in files
    ]


_VERDICT = """\
[[verdict]]
message = "…" # a regular expression that matches the message of the failure
verdict = "device" # or "infra\""""


def _find_base(file: CiFile) -> str:
    return file.find_base or file.whole_history


class _Filling(NamedTuple):
    """What fills a gap: in which job, with which lines of a system's file, None if it is not filled
    there; and the text for all systems.
    """

    job: str
    lines: Callable[[CiFile], str] | None
    for_all: str


_FILLINGS: Mapping[Gap, _Filling] = MappingProxyType(
    {
        Gap.NO_VERDICT: _Filling("hwci.toml", None, _VERDICT),
        Gap.NO_CONFIGURATION: _Filling(
            "the job that runs hwci merge-announce, below it", lambda file: file.apply, APPLY
        ),
        Gap.NO_CHANGES: _Filling("the job that tests", _find_base, UNSHALLOW),
        Gap.CUT_LISTS: _Filling("the job that tests", lambda file: file.whole_history, UNSHALLOW),
        Gap.UNCONNECTED_FIX: _Filling(
            "each job that tests, also after a failure", _find_base, UNSHALLOW
        ),
    }
)
