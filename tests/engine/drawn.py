# SPDX-License-Identifier: Apache-2.0
"""What the laws of the engine draw: runs of commits."""

from hypothesis import strategies as st

from hwci.engine.facts import Report
from tests.engine.timeline import changes, commit, report

SHAS = "abcdef"


@st.composite
def reports(draw: st.DrawFn) -> list[Report]:
    """Draw runs of commits in any order, on two boxes and branches, some seconds apart."""
    made = []
    for number in range(draw(st.integers(1, 9))):
        end = draw(st.integers(1, len(SHAS) - 1))
        start = draw(st.integers(0, end - 1))
        words = st.sampled_from(["fw", "hs", "fw hs", "doc", "fw ~"])
        listed = [commit(sha, draw(words)) for sha in SHAS[start + 1 : end + 1]]
        made.append(
            report(
                f"{SHAS[end]}:{draw(st.sampled_from(['F', 'F', 'P', 'P2', 'I', 'L']))}",
                draw(st.integers(0, 6)),
                box=draw(st.sampled_from(["box-1", "box-2"])),
                branch=draw(st.sampled_from(["main", "main", "topic"])),
                run_id=number,
                sent=draw(st.sampled_from([None, changes(SHAS[start], *listed)])),
            )
        )
    return made
