# SPDX-License-Identifier: Apache-2.0
"""What a bench remembers of what it tested (semantics, 5.1 and 6.6), and of what it reported under
which identity.
"""

from pathlib import Path
from typing import Any

import pytest

from hwci.client.store import BenchStore, JobOfBuild, PastRuns, PendingReport, RunSeries, memory
from hwci.wire.reports import Changes, CommitItem
from tests.support.pending import ADDRESS, KEY, OTHER_KEY, TEST, keep, pending, run_report

SERIES = RunSeries("acme/firmware", "hardware", "main", "hardware")
A, B, C = ("a" * 40, "b" * 40, "c" * 40)


@pytest.fixture
def store(tmp_path: Path) -> BenchStore:
    return BenchStore(tmp_path / "spool")


def changes_since(base: str | None, sha: str) -> Changes:
    return Changes(base_sha=base, commits=[CommitItem(sha=sha, subject="fix", files=["fw/a.c"])])


def sent(store: BenchStore, run_id: int, sha: str, **fields: Any) -> None:
    """Report a run, and let the server have it."""
    store.sent(keep(store, run_id=run_id, sha=sha, **fields))


def known(store: BenchStore, series: RunSeries | None = SERIES) -> PastRuns:
    return store.recall(series).past


def hello_ok(store: BenchStore, run_id: int) -> bool | None:
    found = known(store).reported(run_id)
    return None if found is None else found.hello_ok


def test_the_last_run_that_tested_is_remembered_whether_or_not_it_was_sent(
    store: BenchStore,
) -> None:
    sent(store, 1, A)
    keep(store, run_id=2, sha=B)

    assert known(store).last_tested(3) == B


@pytest.mark.parametrize("lost", [{"hello_ok": False}, {"tests": []}])
def test_a_run_that_lost_its_bench_or_has_no_tests_tested_nothing(
    store: BenchStore, lost: dict[str, Any]
) -> None:
    sent(store, 1, A)
    sent(store, 2, B, **lost)

    past = known(store)
    assert past.last_tested(3) == A
    assert [hello_ok(store, run_id) for run_id in (1, 2, 3)] == [True, False, None]
    assert past.was_lost(B)
    assert not past.was_lost(A)
    assert not past.was_lost(C)


def test_one_box_or_attempt_that_reached_the_hardware_is_enough(store: BenchStore) -> None:
    for box, reached in (("a", False), ("b", True), ("c", False), ("b", False)):
        sent(store, 1, A, hello_ok=reached, box_key=box)

    assert hello_ok(store, 1)
    assert known(store).last_tested(2) == A


def test_a_run_is_not_before_itself_and_later_runs_are_not_either(store: BenchStore) -> None:
    for run_id, sha in ((1, A), (2, B), (3, C), (2, B)):
        sent(store, run_id, sha)

    assert known(store).last_tested(2) == A
    assert known(store).last_tested(1) is None
    assert known(store).reported(4) is None


def test_what_the_first_attempt_said_stays(store: BenchStore) -> None:
    for base in (A, B):
        sent(store, 1, C, changes=changes_since(base, C).model_dump(mode="json"))

    assert known(store).first_attempt(1, C) == changes_since(A, C)
    assert known(store).first_attempt(1, A) is None
    assert known(store).first_attempt(2, C) is None


def test_what_the_first_run_on_a_commit_said_is_found_by_the_commit(store: BenchStore) -> None:
    keep(store, run_id=1, sha=C)
    for run_id, base in ((2, None), (3, B)):
        sent(store, run_id, C, changes=changes_since(base, C).model_dump(mode="json"))

    assert known(store).first_changes(C) == changes_since(None, C)
    assert known(store).first_changes(A) is None


@pytest.mark.parametrize(
    "other",
    [
        SERIES._replace(repo_key="acme/other"),
        SERIES._replace(workflow="x"),
        SERIES._replace(suite="x"),
        SERIES._replace(branch="../../release/ß\udcff"),
    ],
)
def test_series_know_nothing_of_one_another(other: RunSeries, store: BenchStore) -> None:
    sent(store, 1, A, changes=changes_since(B, A).model_dump(mode="json"))

    assert known(store, other) == PastRuns(other)
    assert known(store, None) == PastRuns()


def test_it_does_not_grow_without_end(store: BenchStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "RUNS_KEPT", 5)
    monkeypatch.setattr(memory, "CHANGES_KEPT", 2)
    monkeypatch.setattr(memory, "SERIES_KEPT", 3)
    for run_id in range(8):
        sent(store, run_id, A, changes=changes_since(None, A).model_dump(mode="json"))
    past = known(store)
    assert [run.run_id for run in past.runs] == [3, 4, 5, 6, 7]
    kept = [past.first_attempt(run_id, A) is not None for run_id in range(8)]
    assert kept == [False] * 6 + [True] * 2

    for number in range(3):
        sent(store, 1, A, branch=f"branch-{number}")
    assert known(store).runs == ()
    assert known(store, SERIES._replace(branch="branch-0")).runs


def test_pending_reports_are_not_forgotten(
    store: BenchStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "RUNS_KEPT", 1)
    for run_id in (1, 2, 3):
        keep(store, run_id=run_id)

    assert [run.run_id for run in known(store).runs] == [1, 2, 3]


def test_the_first_run_of_a_number_is_known_whatever_its_series(store: BenchStore) -> None:
    sent(store, 1, A)
    sent(store, 1, B, workflow="x")

    series, sha = store.first_run(1) or ("", "")
    assert (len(series), sha) == (32, A)
    assert store.first_run(2) is None


def test_a_place_that_cannot_be_written_remembers_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = BenchStore(tmp_path / "file")

    assert not store.keeps()
    assert BenchStore(tmp_path / "spool").keeps()
    assert not store.keep([pending()], ADDRESS, KEY)[0].kept
    assert known(store).runs == ()
    assert store.replaced(run_report(suite="t")) is None


# What the server refused counts nowhere


@pytest.mark.parametrize("earlier", [None, False, True])
def test_a_run_of_which_the_report_was_refused_was_never_known(
    store: BenchStore, earlier: bool | None
) -> None:
    sent(store, 1, A)
    if earlier is not None:
        sent(store, 2, B, hello_ok=earlier, box_key="other")

    refused = keep(store, run_id=2, sha=B, changes=changes_since(A, B).model_dump(mode="json"))
    assert hello_ok(store, 2)
    keep(store, run_id=3, sha=C)
    store.refuse(refused, "400")

    assert [hello_ok(store, run_id) for run_id in (1, 2, 3)] == [True, earlier, True]
    if earlier is None:
        sent(store, 2, B, changes=changes_since(C, B).model_dump(mode="json"))
        assert known(store).first_attempt(2, B) == changes_since(C, B)


def test_a_run_whose_report_waits_again_is_known_again(store: BenchStore) -> None:
    store.refuse(keep(store, run_id=2, sha=B), "404")
    assert hello_ok(store, 2) is None

    store.put_back()

    assert hello_ok(store, 2)


def test_a_report_that_is_replaced_before_it_is_sent_leaves_its_run_in_its_place(
    store: BenchStore,
) -> None:
    """First without changes, while git is asked; then whole."""
    keep(store, run_id=1, sha=A)
    keep(store, run_id=2, sha=B)
    sent(store, 1, A, changes=changes_since(C, A).model_dump(mode="json"))

    assert [run.run_id for run in known(store).runs] == [1, 2]
    assert known(store).first_attempt(1, A) == changes_since(C, A)


def test_parts_of_a_run_are_one_run(store: BenchStore) -> None:
    for part in (1, 2):
        fields: dict[str, Any] = {
            "run_id": 70 + part,
            "part_of": {"run_id": 7, "parts": 2, "part": part},
        }
        kept = keep(store, **fields)
        assert (kept.name, kept.run_id) == (f"bench-1 part {part} of 2", 7)

    assert [run.run_id for run in known(store).runs] == [7]


def test_a_body_that_a_person_wrote_is_not_counted_from(store: BenchStore) -> None:
    built = PendingReport.of(run_report(), remember=False)
    for one in store.keep([built], ADDRESS, KEY):
        store.sent(one)

    assert known(store).runs == ()
    assert store.replaced(run_report(suite="t")) is None


def test_a_report_that_could_not_be_kept_is_remembered_once_it_is_sent(tmp_path: Path) -> None:
    store = BenchStore(tmp_path, bytes_max=0)
    [unkept] = store.keep([pending(run_id=5, sha=A)], ADDRESS, KEY)
    assert not unkept.kept

    store.sent(unkept)

    assert known(store).last_tested(6) == A
    assert store.replaced(run_report(run_id=5, suite="t")) == "one of product hardware"


# Which report replaces another job's


@pytest.fixture
def one(store: BenchStore) -> BenchStore:
    keep(store, suite="s")
    return store


OTHER_TESTS = [{**TEST, "id": "other"}]


def test_the_same_report_again_replaces_no_other(one: BenchStore) -> None:
    again = [{**TEST, "outcome": "fail", "attempts": 3}]
    assert one.replaced(run_report(suite="s", tests=again)) is None


@pytest.mark.parametrize("is_sent", [False, True])
@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"tests": OTHER_TESTS, "suite": "s"}, "one of other tests"),
        ({"tests": [], "suite": "s"}, "one of other tests"),
        (
            {"started_at": "2026-03-01T09:00:00Z", "suite": "s"},
            "one that started at 2026-01-31T09:00:00Z",
        ),
        ({"sha": "c" * 40, "suite": "s"}, "one of commit " + A[:12]),
        ({"suite": "t"}, "one of product s"),
        ({"tests": OTHER_TESTS, "suite": "t"}, "one of product s"),
    ],
    ids=["other tests", "no tests", "another start", "another commit", "another product", "both"],
)
def test_a_report_of_something_else_under_the_same_identity_is_noticed(
    one: BenchStore, other: dict[str, Any], said: str, is_sent: bool
) -> None:
    if is_sent:
        one.sent(one.reports()[0])
    assert one.replaced(run_report(**other)) == said


@pytest.mark.parametrize("field", [{"run_id": 2}, {"run_attempt": 2}, {"box_key": "bench-2"}])
def test_another_run_attempt_or_box_is_another_report(
    one: BenchStore, field: dict[str, Any]
) -> None:
    assert one.replaced(run_report(tests=OTHER_TESTS, **field)) is None


def test_a_refused_report_replaced_nothing(one: BenchStore) -> None:
    one.sent(one.reports()[0])
    one.refuse(keep(one, key=OTHER_KEY, suite="t"), "400")

    assert one.replaced(run_report(suite="t")) == "one of product s"


def test_only_the_newest_identities_are_remembered(
    store: BenchStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "KNOWN_KEPT", 2)
    for run_id in (1, 2, 3):
        sent(store, run_id, A)

    noticed = [store.replaced(run_report(run_id=number, suite="t")) for number in (1, 2, 3)]
    assert [said is not None for said in noticed] == [False, True, True]


# Which run id a job has, in a build whose number is that of all its jobs

OWN = 10**12


def job(name: str, *boxes: str, number: int = 5, repo: str = "acme/firmware") -> JobOfBuild:
    return JobOfBuild(repo, boxes or ("bench-1",), number, name, OWN)


def claimed(store: BenchStore, of: JobOfBuild) -> int | None:
    return store.recall(None, of, claim=True).run_id


def test_the_first_job_of_a_build_on_a_box_has_its_number_and_others_have_their_own(
    store: BenchStore,
) -> None:
    assert claimed(store, job("a")) == 5
    assert claimed(store, job("b")) == OWN
    assert [claimed(store, job(name)) for name in "ab"] == [5, OWN]  # further attempts


@pytest.mark.parametrize(
    "other",
    [job("b", "bench-2"), job("b", number=6), job("b", repo="acme/other")],
    ids=["box", "build", "repository"],
)
def test_another_box_build_or_repository_has_a_first_job_of_its_own(
    store: BenchStore, other: JobOfBuild
) -> None:
    claimed(store, job("a"))

    assert claimed(store, other) == other.number


def test_a_job_on_several_boxes_has_the_number_only_if_it_is_the_first_on_each(
    store: BenchStore,
) -> None:
    assert claimed(store, job("a", "bench-1", "bench-2")) == 5
    assert claimed(store, job("b", "bench-3", "bench-2")) == OWN
    assert claimed(store, job("b", "bench-3")) == OWN
    assert claimed(store, job("a", "bench-2")) == 5


def test_a_process_that_asks_for_a_run_id_without_claiming_it_leaves_it_to_others(
    store: BenchStore,
) -> None:
    assert store.recall(None, job("a")).run_id == 5
    assert not store.folder.exists()
    assert claimed(store, job("b")) == 5
    assert store.recall(None, job("a")).run_id == OWN


def test_only_the_newest_jobs_are_remembered(
    store: BenchStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "JOBS_KEPT", 2)
    for number in (1, 2, 3):
        claimed(store, job("a", number=number))

    others = [store.recall(None, job("b", number=number)).run_id for number in (1, 2, 3)]
    assert others == [1, OWN, OWN]


@pytest.mark.parametrize("claim", [False, True])
def test_a_job_has_the_number_of_its_build_where_nothing_can_be_remembered(
    tmp_path: Path, claim: bool
) -> None:
    (tmp_path / "file").write_text("in the way")

    assert BenchStore(tmp_path / "file").recall(None, job("a"), claim=claim).run_id == 5
