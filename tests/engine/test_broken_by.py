# SPDX-License-Identifier: Apache-2.0
"""The commit that broke the test (semantics, 7)."""

from collections.abc import Sequence

from hwci.contract.runs.commits import ChangeList
from hwci.engine.facts import FailureKey
from hwci.engine.full_history import FullHistory
from hwci.engine.page.evidence import evidence
from hwci.engine.page.failures import resolved_failure
from tests.engine.timeline import ORG, Past, changes, commit, id_of, report, seen

RANGE = changes("a", commit("p", "fw"), commit("q"), commit("r", "fw hs"), commit("b", "hs"))


def suspects(past: Past, sha: str = "b") -> str | None:
    broken_by = past.row(sha).broken_by
    return None if broken_by is None else " ".join(commit.sha for commit in broken_by.commits)


def broke(under_test: ChangeList | None) -> Past:
    return Past([report("a:P", 0), report("b:F", 2, sent=under_test), report("z:P", 90)])


def test_one_firmware_commit_under_test_is_the_commit() -> None:
    past = seen("box-1 | a:P b:F c:P", changed={"b": "fw"})

    assert suspects(past) == "b"


def test_several_are_the_range_of_these_firmware_commits_alone() -> None:
    assert suspects(broke(RANGE)) == "p r"


def test_only_those_after_the_last_passed_commit_before_the_group_count() -> None:
    narrowed = broke(RANGE).and_also(report("q:P", 9))

    assert suspects(narrowed) == "r"
    assert suspects(narrowed.and_also(report("q:P", 9, box="box-2"))) == "r"
    assert suspects(broke(RANGE).and_also(report("q:P", 9, box="box-2"))) == "p r"


def test_a_pass_on_another_branch_narrows_too() -> None:
    assert suspects(broke(RANGE).and_also(report("q:P", 9, branch="topic"))) == "r"


def test_a_flakes_commit_narrows_too() -> None:
    past = broke(RANGE).and_also(report("q:F", 8), report("q:P", 9))

    assert suspects(past) == "r"


def test_after_its_last_place_in_the_list() -> None:
    twice = changes("a", commit("q", "fw"), commit("r", "fw"), commit("q", "fw"), commit("b", "fw"))

    assert suspects(broke(twice).and_also(report("q:P", 9))) == "b"


def test_a_bisection_by_hand_moves_the_first_failure_and_narrows_from_below() -> None:
    past = broke(RANGE).and_also(report("p:P", 9), report("r:F", 10, sent=RANGE))

    assert past.together() == {"r b"}
    assert suspects(past) == "r"


def test_a_pass_before_the_list_and_one_since_leave_the_whole_range() -> None:
    """The last passed commit before the group is not a listed one, though a listed one passed."""
    past = broke(RANGE).and_also(report("q:P", -9), report("s:P", 1))

    assert suspects(past) == "p r"


def test_a_failure_that_is_still_pending_has_its_suspects_too() -> None:
    still = Past([report("a:P", 0), report("b:F", 2, sent=RANGE), report("d:F", 3)])

    def broken(past: Past, sha: str) -> list[str] | None:
        found = evidence(past.history, id_of(sha), 200)
        assert found is not None
        assert found.resolved is None
        return None if found.broken_by is None else [one.sha for one in found.broken_by.commits]

    assert broken(still, "b") == broken(still, "d") == ["p", "r"]
    assert broken(still.and_also(report("q:P", 9)), "b") == ["r"]
    assert broken(still.configured(), "b") is None
    assert broken(still.and_also(report("b:P", 9)), "b") is None  # a flake: nothing broke it


def test_history_is_asked_only_when_there_is_a_suspect() -> None:
    class Unasked(FullHistory):
        def last_passes_before(
            self, failures: Sequence[tuple[FailureKey, Sequence[str]]]
        ) -> Sequence[str | None]:
            assert not failures
            return []

    past = broke(changes("a", commit("q"), commit("b", "hs")))

    found = resolved_failure(Unasked(ORG, past.facts), id_of("b"))

    assert found is not None
    assert found.broken_by is None


def test_none_unknown_or_not_configured_is_null() -> None:
    assert suspects(broke(None)) is None
    assert suspects(broke(changes(None, commit("b", "fw")))) is None
    assert suspects(broke(changes("a", commit("b", "hs")))) is None
    assert suspects(broke(RANGE).configured()) is None
    assert suspects(broke(RANGE).and_also(report("r:P", 9))) is None


def test_the_own_pass_of_a_failure_that_stands_alone_is_not_before_it() -> None:
    past = broke(RANGE).and_also(report("b:P", 9)).reviewed("b", "confirm")

    assert suspects(past) == "p r"
