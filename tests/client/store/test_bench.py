# SPDX-License-Identifier: Apache-2.0
"""Reports on the disk of a bench: kept whole, in their order, for their server and key."""

import gzip
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hwci.client import calls
from hwci.client._protocol import Credentials, build_request
from hwci.client.errors import CredentialMalformedError, ServerAddressError
from hwci.client.store import (
    ASKED_MAX_S,
    BenchStore,
    PendingReport,
    StoreError,
    bench_store,
    fingerprint_of,
    no_place,
)
from hwci.wire.reports import MergeAnnouncement
from tests.support.pending import (
    ADDRESS,
    KEY,
    OTHER_ADDRESS,
    OTHER_KEY,
    RUN,
    TEST,
    in_state,
    keep,
    pending,
    run_ids,
    run_report,
    states,
    waiting,
)


@pytest.fixture
def store(tmp_path: Path) -> BenchStore:
    return BenchStore(tmp_path / "spool")


# Keeping


@pytest.mark.parametrize("tests", [1, 500])
def test_a_report_is_sent_as_it_was_built_by_any_process(store: BenchStore, tests: int) -> None:
    """A large one is compressed once, before it is kept."""
    items = [{**TEST, "id": f"test {number}"} for number in range(tests)]
    built = calls.report_run(run_report(tests=items))
    as_it_was = build_request(built, Credentials(ci_key=KEY), "")
    keep(store, tests=items)

    [found] = waiting(store)
    with store.taken(found) as taken:
        assert taken is not None
        assert taken.compressed is (tests > 1)
        assert build_request(taken, Credentials(ci_key=KEY), "") == as_it_was
    assert store.body(found) == store.body(keep(store, tests=items)) == built.body


def test_a_large_report_is_compressed_once_and_never_read_again(
    store: BenchStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [{**TEST, "id": f"test {number}"} for number in range(500)]
    compressed = []
    compress = gzip.compress

    def counted(*given: Any, **more: Any) -> bytes:
        compressed.append(1)
        return compress(*given, **more)

    monkeypatch.setattr(gzip, "compress", counted)
    monkeypatch.setattr(gzip, "decompress", lambda _: pytest.fail("it is sent as it is"))

    kept = keep(store, tests=items)
    for one in (kept, *waiting(store)):
        with store.taken(one) as taken:
            assert taken is not None
            build_request(taken, Credentials(ci_key=KEY), "")

    assert compressed == [1]


def test_kept_reports_are_private_and_do_not_hold_the_key(store: BenchStore) -> None:
    kept = keep(store)

    assert store.folder.stat().st_mode & 0o777 == 0o700
    for path in store.folder.iterdir():
        assert path.stat().st_mode & 0o077 == 0
    assert kept.file == store.file
    assert KEY.encode() not in store.file.read_bytes()
    assert kept.fingerprint == fingerprint_of(KEY) != fingerprint_of(OTHER_KEY)


def test_the_fingerprint_of_a_key_stays_what_earlier_reports_were_kept_with() -> None:
    assert fingerprint_of("key") == "6c942c9de1433d12"


def test_reports_are_pending_in_the_order_of_arrival_whatever_the_clock(
    tmp_path: Path,
) -> None:
    times = iter([2_000_000_000.0, 5.0, 1_900_000_000.0])
    store = BenchStore(tmp_path, clock=lambda: next(times))

    for run_id in (1, 2, 3):
        keep(store, run_id=run_id)

    assert run_ids(BenchStore(tmp_path)) == [1, 2, 3]


def test_a_report_is_numbered_by_its_microsecond(tmp_path: Path) -> None:
    store = BenchStore(tmp_path, clock=lambda: 1_700_000_000.5)

    assert keep(store).number == 1_700_000_000_500_000


@pytest.mark.parametrize(
    "other", [{"run_id": 2}, {"run_attempt": 2}, {"box_key": "b"}, {"repo_key": "r"}]
)
def test_a_later_report_of_the_same_identity_replaces_and_of_another_does_not(
    store: BenchStore, other: dict[str, Any]
) -> None:
    keep(store, conclusion="failure")
    keep(store, **other)
    last = keep(store, conclusion="success")

    assert len(waiting(store)) == 2
    assert waiting(store)[-1].number == last.number


def test_the_same_report_to_another_server_still_goes_there(store: BenchStore) -> None:
    keep(store)
    keep(store, address=OTHER_ADDRESS, key=OTHER_KEY)

    assert len(waiting(store)) == 2
    assert len(store.waiting_for(ADDRESS, fingerprint_of(KEY))) == 1
    assert store.elsewhere(ADDRESS) == 1
    assert in_state(store, "superseded") == []


def test_the_same_report_with_another_key_puts_the_earlier_aside_and_loses_none(
    store: BenchStore,
) -> None:
    earlier = keep(store)
    later = keep(store, key=OTHER_KEY)

    assert [one.number for one in waiting(store)] == [later.number]
    [aside] = in_state(store, "superseded")
    assert aside.number == earlier.number
    assert later.supersedes == (aside,)


def test_an_announcement_is_the_same_for_one_product_and_commit(store: BenchStore) -> None:
    for sha, suite, branch in (("a", "s", "x"), ("a", "s", "y"), ("b", "s", "x"), ("a", "t", "x")):
        merged = {"sha": sha * 40, "suite": suite, "branch": branch, "repo_key": "r"}
        body = MergeAnnouncement.model_validate({**merged, "merged_at": RUN["ended_at"]})
        store.keep([PendingReport.of(body)], ADDRESS, KEY)

    assert [(one.name, one.kind) for one in waiting(store)] == [
        ("s", "merge"),
        ("s", "merge"),
        ("t", "merge"),
    ]


def test_what_a_list_of_reports_shows_is_known_of_each(store: BenchStore) -> None:
    merged = {"sha": "b" * 40, "branch": "main", "repo_key": "r", "merged_at": RUN["ended_at"]}
    keep(store, run_id=7, run_attempt=3)
    store.keep([PendingReport.of(MergeAnnouncement.model_validate(merged))], ADDRESS, KEY)

    assert [
        (one.name, one.kind, one.repo_key, one.run_id, one.run_attempt, one.sha)
        for one in waiting(store)
    ] == [
        ("bench-1", "run", "acme/firmware", 7, 3, "a" * 40),
        ("b" * 40, "merge", "r", None, None, "b" * 40),
    ]


def test_a_report_that_can_never_be_sent_is_not_kept(store: BenchStore) -> None:
    with pytest.raises(CredentialMalformedError):
        keep(store, key="no key")
    with pytest.raises(ServerAddressError):
        keep(store, address="nowhere")
    assert not store.folder.exists()


@pytest.mark.parametrize("limits", [{"reports_max": 2}, {"bytes_max": 900}])
def test_a_full_store_refuses_the_new_report_and_drops_none(
    tmp_path: Path, limits: dict[str, Any]
) -> None:
    store = BenchStore(tmp_path, **limits)
    keep(store, run_id=1)
    keep(store, run_id=2)

    with pytest.raises(StoreError, match="is full: it holds 2 reports") as caught:
        keep(store, run_id=3)
    assert "hwci spool remove" in caught.value.fix
    assert run_ids(store) == [1, 2]


def test_a_report_with_room_is_kept_beside_one_without(tmp_path: Path) -> None:
    store = BenchStore(tmp_path, reports_max=1)

    kept = store.keep([pending(run_id=1), pending(run_id=2)], ADDRESS, KEY)

    assert [one.kept for one in kept] == [True, False]
    assert "is full" in str(kept[1].unkept)
    assert run_ids(store) == [1]


def test_a_full_store_takes_what_replaces_a_report_and_nothing_that_puts_one_aside(
    tmp_path: Path,
) -> None:
    store = BenchStore(tmp_path, reports_max=2)
    keep(store, run_id=1)
    store.refuse(keep(store, run_id=2), "404")

    last = keep(store, run_id=1, conclusion="failure")
    assert [one.number for one in waiting(store)] == [last.number]
    for fields in ({"run_id": 2}, {"run_id": 1, "key": OTHER_KEY}):
        with pytest.raises(StoreError, match="is full"):
            keep(store, **fields)


def test_the_bytes_of_a_store_are_those_of_its_reports(tmp_path: Path) -> None:
    size = len(calls.report_run(run_report()).body or b"")
    assert keep(BenchStore(tmp_path / "enough", bytes_max=size)).kept
    store = BenchStore(tmp_path / "two", bytes_max=2 * size - 1)
    keep(store, run_id=1)

    with pytest.raises(StoreError, match=f"it holds 1 reports, {size:,} bytes"):
        keep(store, run_id=2)


def test_sent_reports_free_their_space_on_the_disk(store: BenchStore) -> None:
    keep(store, run_id=1)
    before = store.file.stat().st_size
    noise = [{**TEST, "id": os.urandom(64).hex()} for _ in range(500)]
    large = keep(store, run_id=2, tests=noise)
    assert store.file.stat().st_size > before + 30_000

    store.sent(large)

    assert store.file.stat().st_size <= before + 8_192


def test_a_folder_that_cannot_be_made_is_an_error_with_a_fix(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    folder = tmp_path / "file" / "spool"
    with pytest.raises(StoreError, match=f"^{folder} cannot be written: Not a dir") as caught:
        keep(BenchStore(folder))
    assert "HWCI_SPOOL_DIR" in caught.value.fix


def test_its_folder_comes_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    def place(**environ: str) -> Path:
        found = bench_store(environ)
        assert found is not None
        return found.folder

    assert place(HWCI_SPOOL_DIR="/a", HWCI_STATE_DIR="/s", XDG_STATE_HOME="/b") == Path("/a")
    assert place(HWCI_STATE_DIR="/s", XDG_STATE_HOME="/b") == Path("/s/spool")
    assert place(XDG_STATE_HOME="/b") == Path("/b/hwci/spool")
    assert place() == tmp_path / ".local/state/hwci/spool"
    assert list(tmp_path.iterdir()) == []


def test_without_a_home_there_is_a_store_only_where_one_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nowhere(_: object) -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", classmethod(nowhere))

    assert bench_store({}) is None
    assert str(no_place()) == "HOME is not set, and this user has no home folder"
    assert "HWCI_SPOOL_DIR" in no_place().fix
    for name, folder in (("HWCI_SPOOL_DIR", "/a"), ("HWCI_STATE_DIR", "/s")):
        found = bench_store({name: folder})
        assert found is not None
        assert found.folder == Path("/a" if folder == "/a" else "/s/spool")


def test_looking_makes_no_file(store: BenchStore) -> None:
    assert store.reports() == []
    assert store.waiting_for(ADDRESS, None) == []
    assert not store.folder.exists()


def test_reports_that_failed_more_often_come_later(store: BenchStore) -> None:
    first, second = keep(store, run_id=1), keep(store, run_id=2)

    def order() -> list[int | None]:
        return [one.run_id for one in store.waiting_for(ADDRESS, None)]

    store.put_off(first, "503")
    assert order() == [2, 1]
    store.put_off(second, "503")
    assert order() == [1, 2]
    store.put_off(first, "503")
    assert order() == [2, 1]
    store.put_off(first, "503")
    assert [report.tries for report in store.waiting_for(ADDRESS, None)] == [1, 3]


def test_the_longest_pause_that_a_server_asked_for_is_known(tmp_path: Path) -> None:
    now = [5_000.0]
    store = BenchStore(tmp_path, clock=lambda: now[0])
    assert store.not_before(ADDRESS, None) == 0

    for run_id, asked_s in ((1, ASKED_MAX_S), (2, 20.0)):
        store.put_off(keep(store, run_id=run_id), "503", asked_s)
    store.put_off(keep(store, run_id=3, key=OTHER_KEY), "503")
    assert store.not_before(ADDRESS, fingerprint_of(KEY)) == ASKED_MAX_S
    assert store.not_before(ADDRESS, fingerprint_of(OTHER_KEY)) == 0
    assert store.not_before(OTHER_ADDRESS, None) == 0

    now[0] -= 30  # the clock was set back: nobody asked for that long
    assert store.not_before(ADDRESS, None) == 50
    assert store.not_before(ADDRESS, fingerprint_of(OTHER_KEY)) == 0
    now[0] += 30 + ASKED_MAX_S
    assert store.not_before(ADDRESS, None) == 0


def test_no_report_is_sent_while_its_server_asked_to_wait(tmp_path: Path) -> None:
    now = [5_000.0]
    store = BenchStore(tmp_path, clock=lambda: now[0])
    kept = keep(store)
    store.put_off(kept, "503", asked_s=20)

    with store.taken(kept) as call:
        assert call is None
    now[0] += 20
    with store.taken(kept) as call:
        assert call is not None


def test_a_report_that_is_gone_is_not_sent(store: BenchStore) -> None:
    first, second = keep(store, run_id=1), keep(store, run_id=2)
    store.remove(first)
    store.refuse(second, "404")

    for gone in (first, second):
        with store.taken(gone) as call:
            assert call is None
    assert store.damaged == []


def test_a_report_is_found_as_it_is_now_or_the_later_one_in_its_place(store: BenchStore) -> None:
    first = keep(store, run_id=1)
    keep(store, run_id=2)
    store.put_off(first, "503")
    found = store.found(first)
    assert found is not None
    assert (found.number, found.tries, found.reason) == (first.number, 1, "503")

    keep(store, run_id=1, address=OTHER_ADDRESS)
    later = keep(store, run_id=1)
    found = store.found(first)
    assert found is not None
    assert found.number == later.number

    store.sent(later)
    assert store.found(first) is None


def test_pending_reports_are_counted_by_key_and_server(store: BenchStore) -> None:
    keep(store, run_id=1)
    keep(store, run_id=2, key=OTHER_KEY)
    keep(store, run_id=3, address=None, key=OTHER_KEY)
    keep(store, run_id=4, address=OTHER_ADDRESS)
    store.refuse(keep(store, run_id=5, address=OTHER_ADDRESS, key=OTHER_KEY), "404")

    assert store.others_waiting(ADDRESS, fingerprint_of(KEY)) == 2
    assert store.others_waiting(ADDRESS, fingerprint_of(OTHER_KEY)) == 1
    assert store.others_waiting(OTHER_ADDRESS, fingerprint_of(KEY)) == 1
    assert store.elsewhere(ADDRESS) == 1
    assert store.elsewhere(OTHER_ADDRESS) == 2


def test_a_store_whose_locks_cannot_be_made_says_so(store: BenchStore) -> None:
    kept = keep(store)
    (store.folder / ".sending").touch()

    said = f"{store.folder} cannot be written: File exists"
    with pytest.raises(StoreError, match=said), store.taken(kept):
        pytest.fail("another process may send it, too")


def test_a_store_that_is_not_a_folder_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(StoreError, match="file cannot be read: Not a directory") as caught:
        BenchStore(tmp_path / "file").reports()
    assert "HWCI_SPOOL_DIR" in caught.value.fix


# Which is the later


def test_a_later_report_is_the_later_one_whatever_the_clock(tmp_path: Path) -> None:
    times = iter([2_000_000_000.0, 5.0])
    store = BenchStore(tmp_path, clock=lambda: next(times))
    store.refuse(keep(store), "404")

    later = keep(store, key=OTHER_KEY)

    assert [one.number for one in waiting(store)] == [later.number]
    assert [state for state, _ in states(store)] == ["superseded", "waiting"]


def test_what_was_sent_is_not_followed_by_a_lower_number(tmp_path: Path) -> None:
    store = BenchStore(tmp_path, clock=iter([2_000_000_000.0, 5.0]).__next__)
    first = keep(store)
    store.sent(first)

    assert keep(store).number > first.number


def test_a_report_that_is_sent_while_a_later_one_comes_does_not_count_as_left(
    store: BenchStore,
) -> None:
    earlier = keep(store)
    with store.taken(earlier):
        keep(store, key=OTHER_KEY)
        assert len(in_state(store, "superseded")) == 1
        store.sent(earlier)

    assert in_state(store, "superseded") == []


def test_a_report_for_a_server_that_is_not_known_goes_to_the_first_that_is(
    store: BenchStore,
) -> None:
    kept = keep(store, address=None)
    assert kept.address == ""
    assert [one.number for one in store.waiting_for(ADDRESS, fingerprint_of(KEY))] == [kept.number]
    assert store.elsewhere(ADDRESS) == 0

    store.readdress(ADDRESS, fingerprint_of(KEY))

    assert [one.address for one in waiting(store)] == [ADDRESS]


def test_pending_reports_never_follow_a_later_one_that_could_not_be_kept(
    store: BenchStore,
) -> None:
    for run_id, address in ((1, ADDRESS), (1, OTHER_ADDRESS), (2, ADDRESS), (3, ADDRESS)):
        keep(store, address=address, run_id=run_id)
    store.refuse(waiting(store)[3], "404")

    for run_id in (1, 3):
        store.overtake(pending(run_id=run_id), ADDRESS)

    assert [(one.state, one.run_id, one.address) for one in store.reports()] == [
        ("superseded", 1, ADDRESS),
        ("waiting", 1, OTHER_ADDRESS),
        ("waiting", 2, ADDRESS),
        ("superseded", 3, ADDRESS),
    ]


# For another server


def test_a_report_that_is_readdressed_waits_for_the_other_server_in_its_turn(
    store: BenchStore,
) -> None:
    first = keep(store, address=OTHER_ADDRESS, run_id=1)
    keep(store, run_id=2)
    store.put_off(first, "503", asked_s=60)

    store.readdress(ADDRESS, None, any_server=True)

    assert [(one.run_id, one.address, one.not_before) for one in waiting(store)] == [
        (1, ADDRESS, 0),
        (2, ADDRESS, 0),
    ]


def test_only_what_is_meant_for_the_key_and_for_no_server_is_readdressed(store: BenchStore) -> None:
    keep(store, address=OTHER_ADDRESS, run_id=1)
    keep(store, address=None, key=OTHER_KEY, run_id=2)

    store.readdress(ADDRESS, fingerprint_of(KEY))

    assert [one.address for one in waiting(store)] == [OTHER_ADDRESS, ""]


def test_a_readdressed_report_never_follows_a_later_one_of_its_run(store: BenchStore) -> None:
    keep(store, address=OTHER_ADDRESS, conclusion="failure")
    newer = keep(store, conclusion="success")
    store.readdress(ADDRESS, None, any_server=True)
    assert [one.number for one in waiting(store)] == [newer.number]
    assert len(in_state(store, "superseded")) == 1

    newest = keep(store, address=OTHER_ADDRESS, conclusion="failure")
    store.readdress(ADDRESS, None, any_server=True)
    assert [one.number for one in waiting(store)] == [newest.number]


@pytest.mark.parametrize("refused", [False, True])
def test_a_readdressed_report_never_follows_a_later_one_that_was_sent(
    store: BenchStore, refused: bool
) -> None:
    older = keep(store, address=OTHER_ADDRESS)
    if refused:
        store.refuse(older, "404")
    store.sent(keep(store))
    if refused:
        assert store.put_back() == 1
    assert len(waiting(store)) == 1

    store.readdress(ADDRESS, None, any_server=True)

    assert [state for state, _ in states(store)] == ["superseded"]


def test_a_report_is_not_readdressed_while_it_is_sent(store: BenchStore) -> None:
    kept = keep(store, address=OTHER_ADDRESS)

    with store.taken(kept):
        store.readdress(ADDRESS, None, any_server=True)

    assert [one.address for one in waiting(store)] == [OTHER_ADDRESS]


# By a person


def test_a_report_that_is_named_waits_as_the_latest_for_this_server_and_key(
    store: BenchStore,
) -> None:
    named = keep(store, conclusion="failure")
    later = keep(store, key=OTHER_KEY)
    [aside] = store.find(named.label)
    said = store.body(aside)
    with pytest.raises(CredentialMalformedError):
        store.keep_again(aside, ADDRESS, "no key")

    again = store.keep_again(aside, ADDRESS, KEY)

    assert again.number > later.number
    assert again.created >= later.created
    assert (again.state, again.fingerprint) == ("waiting", fingerprint_of(KEY))
    assert store.body(again) == said
    assert [one.state for one in store.find("0000")] == ["superseded", "waiting"]
    assert store.find("1") == store.find("") == []


def test_a_report_that_is_named_waits_as_one_that_was_never_sent(tmp_path: Path) -> None:
    store = BenchStore(tmp_path, clock=iter(range(1_000, 9_000, 1_000)).__next__)
    named = keep(store, address=OTHER_ADDRESS)
    keep(store)  # so the other server must not have the earlier one any more
    store.put_off(named, "503", asked_s=60)
    [before] = store.find(named.label)
    assert (before.tries, before.overtaken) == (1, (ADDRESS,))

    again = store.keep_again(before, OTHER_ADDRESS, KEY)

    assert (again.tries, again.reason, again.not_before, again.overtaken) == (0, "", 0, ())
    assert (again.address, again.created) == (OTHER_ADDRESS, 4_000)
    assert [one.number for one in waiting(store) if one.address == OTHER_ADDRESS] == [again.number]


def test_a_report_that_was_refused_waits_again_without_the_reason(store: BenchStore) -> None:
    kept = keep(store)
    store.put_off(kept, "503", asked_s=60)
    store.refuse(kept, "404")

    assert store.put_back() == 1

    [back] = waiting(store)
    assert (back.reason, back.not_before, back.tries) == ("", 0, 2)
    assert store.put_back() == 0


def test_the_body_of_a_report_that_is_gone_is_an_error_with_its_name(store: BenchStore) -> None:
    kept = keep(store)
    [found] = waiting(store)
    store.remove(kept)

    with pytest.raises(StoreError, match=f"{kept.label}: it is damaged") as caught:
        store.body(found)
    assert caught.value.fix == "Name another: hwci spool list"


def test_a_removed_report_is_gone(store: BenchStore) -> None:
    keep(store, run_id=1)
    store.remove(keep(store, run_id=2))

    assert states(store) == [("waiting", 1)]


# Sharing


def test_two_never_send_one_report_at_once(store: BenchStore) -> None:
    kept = keep(store)

    with store.taken(kept) as mine, BenchStore(store.folder).taken(kept) as theirs:
        assert mine is not None
        assert theirs is None


def test_a_report_is_not_sent_while_an_older_one_of_its_run_is(store: BenchStore) -> None:
    older = keep(store)
    with store.taken(older) as taken:
        assert taken is not None
        newer = keep(store, conclusion="failure")
        with store.taken(newer) as also:
            assert also is None
        store.put_off(older, "no answer")

    assert [one.number for one in waiting(store)] == [newer.number]
    with store.taken(newer) as now, store.taken(older) as gone:
        assert now is not None
        assert gone is None


def test_a_lock_ends_with_the_process_that_held_it(store: BenchStore) -> None:
    kept = keep(store)
    child = os.fork()
    if child == 0:
        with store.taken(kept):
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)

    with store.taken(kept) as taken:
        assert taken is not None


def test_it_is_as_durable_as_a_file_on_a_network_can_be(store: BenchStore) -> None:
    keep(store)

    with closing(sqlite3.connect(store.file)) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)  # no WAL
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
    assert {path.name for path in store.folder.iterdir()} <= {
        *("bench.sqlite3", "bench.sqlite3-journal", ".lock", ".sending")
    }
