# SPDX-License-Identifier: Apache-2.0
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hwci.client import Client, calls
from hwci.client._call import Call
from hwci.client.dispatch import Dispatch, Letter, Outcome, Patience, letters_of
from hwci.client.errors import CredentialMalformedError, ServerAddressError
from hwci.client.spool import Spool, SpoolError, fingerprint_of, spool_folder
from hwci.client.spool_files import Kept
from hwci.wire.reports import MergeAnnouncement, RunReport
from tests.support.answering import Answer, AnsweringServer, answering, unused_url
from tests.support.running import report

ADDRESS = "https://hwci.example.org"
OTHER_ADDRESS = "https://hwci.example.net"
KEY = "svc_" + "1" * 64
OTHER_KEY = "svc_" + "2" * 64


def call(**fields: Any) -> Call[None]:
    return calls.report_run(RunReport.model_validate_json(json.dumps(report(**fields))))


def keep(spool: Spool, address: str = ADDRESS, key: str = KEY, **fields: Any) -> Kept:
    return spool.keep(call(**fields), address, key, "bench-1")


def waiting_run_ids(spool: Spool) -> list[int]:
    return [json.loads(body_of(spool, kept))["run_id"] for kept in spool.waiting()]


def body_of(spool: Spool, kept: Kept) -> bytes:
    with spool.taken(kept) as taken:
        assert taken is not None
        assert taken.body is not None
        return taken.body


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "spool")


# Keeping


def test_a_report_that_is_kept_is_given_as_it_was(spool: Spool) -> None:
    one = call(run_id=7)
    kept = spool.keep(one, ADDRESS, KEY, "bench-1")

    assert spool.waiting() == [kept]
    with spool.taken(kept) as taken:
        assert taken == one
        assert taken is not None
        assert taken.body == one.body


def test_nobody_else_reads_what_is_kept_and_the_key_is_not_in_it(spool: Spool) -> None:
    kept = keep(spool)

    assert spool.folder.stat().st_mode & 0o777 == 0o700
    assert kept.path.stat().st_mode & 0o777 == 0o600
    assert KEY.encode() not in kept.path.read_bytes()
    assert kept.fingerprint == fingerprint_of(KEY) != fingerprint_of(OTHER_KEY)


def test_reports_wait_in_the_order_in_which_they_came_whatever_the_clock_says(
    tmp_path: Path,
) -> None:
    times = iter([2_000_000_000.0, 5.0, 1_900_000_000.0])
    spool = Spool(tmp_path, clock=lambda: next(times))

    for run_id in (1, 2, 3):
        keep(spool, run_id=run_id)

    now = Spool(tmp_path)
    assert waiting_run_ids(now) == [1, 2, 3]


@pytest.mark.parametrize(
    "other", [{"run_id": 2}, {"run_attempt": 2}, {"box_key": "b"}, {"repo_key": "r"}]
)
def test_a_later_report_of_the_same_identity_replaces_and_of_another_does_not(
    spool: Spool, other: dict[str, Any]
) -> None:
    keep(spool, conclusion="failure")
    keep(spool, **other)
    last = keep(spool, conclusion="success")

    assert len(spool.waiting()) == 2
    assert spool.waiting()[-1] == last


def test_the_same_report_to_another_server_goes_there_all_the_same(spool: Spool) -> None:
    keep(spool)
    keep(spool, address=OTHER_ADDRESS, key=OTHER_KEY)

    assert len(spool.waiting()) == 2
    assert len(spool.waiting_for(ADDRESS, fingerprint_of(KEY))) == 1
    assert spool.superseded() == []


def test_the_same_report_with_another_key_puts_the_earlier_aside_and_loses_none(
    spool: Spool,
) -> None:
    earlier = keep(spool)
    later = keep(spool, key=OTHER_KEY)

    assert spool.waiting() == [later]
    [aside] = spool.superseded()
    assert aside.path.name == earlier.path.name
    assert spool.superseded_by(later) == [aside]


def test_an_announcement_is_the_same_for_one_product_and_commit(spool: Spool) -> None:
    for sha, suite, branch in (("a", "s", "x"), ("a", "s", "y"), ("b", "s", "x"), ("a", "t", "x")):
        merged = {"sha": sha * 40, "suite": suite, "branch": branch, "repo_key": "r"}
        body = MergeAnnouncement.model_validate({**merged, "merged_at": report()["ended_at"]})
        spool.keep(calls.announce_merge(body), ADDRESS, KEY, sha)

    assert len(spool.waiting()) == 3


def test_what_could_never_be_sent_is_not_kept(spool: Spool) -> None:
    with pytest.raises(CredentialMalformedError):
        keep(spool, key="no key")
    with pytest.raises(ServerAddressError):
        keep(spool, address="nowhere")
    assert not spool.folder.exists()


@pytest.mark.parametrize("limits", [{"files_max": 2}, {"bytes_max": 600}])
def test_a_full_spool_refuses_the_new_report_and_drops_none(
    tmp_path: Path, limits: dict[str, Any]
) -> None:
    spool = Spool(tmp_path, **limits)
    keep(spool, run_id=1)
    if "files_max" in limits:
        keep(spool, run_id=2)
    before = waiting_run_ids(spool)

    with pytest.raises(SpoolError, match="is full"):
        keep(spool, run_id=3)
    assert waiting_run_ids(spool) == before


def test_a_folder_that_cannot_be_made_is_an_error_with_a_fix(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(SpoolError, match="cannot be written") as caught:
        keep(Spool(tmp_path / "file" / "spool"))
    assert "HWCI_SPOOL_DIR" in caught.value.fix


def test_the_folder_is_told_or_of_the_state_of_the_user() -> None:
    assert spool_folder({"HWCI_SPOOL_DIR": "/a", "XDG_STATE_HOME": "/b"}) == Path("/a")
    assert spool_folder({"XDG_STATE_HOME": "/b"}) == Path("/b/hwci/spool")
    assert spool_folder({}) == Path.home() / ".local/state/hwci/spool"


KEEPER = """
import sys
from pathlib import Path
from hwci.client._call import Call, Credential
from hwci.client.spool import Spool
spool = Spool(Path(sys.argv[1]))
for run_id in range(1, 100_000):
    body = b'{"run_id": %d}' % run_id
    call = Call("POST", "/api/ci/run-report", None, 204, credential=Credential.CI_KEY, body=body)
    spool.keep(call, sys.argv[2], sys.argv[3], "bench-1")
    print(run_id, flush=True)
"""


def test_a_keeper_that_is_killed_loses_nothing_and_leaves_nothing_torn(tmp_path: Path) -> None:
    """What it said is kept, is kept; at the most one more is, whole."""
    for pause in (0.0, 0.013, 0.029, 0.041):
        spool = Spool(tmp_path / str(pause))
        keeper = subprocess.Popen(
            [sys.executable, "-c", KEEPER, str(spool.folder), ADDRESS, KEY],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert keeper.stdout is not None
        assert keeper.stdout.readline() == "1\n"
        time.sleep(pause)
        keeper.send_signal(signal.SIGKILL)
        said = 1 + len(keeper.communicate()[0].splitlines())

        assert waiting_run_ids(spool) in (list(range(1, said + 1)), list(range(1, said + 2)))


def test_what_a_killed_process_left_half_written_is_removed(spool: Spool) -> None:
    keep(spool, run_id=1)
    (spool.folder / "refused").mkdir()
    halves = [spool.folder / ".new-half", spool.folder / "refused" / ".new-half"]
    for half in halves:
        half.write_bytes(b'{"format": 1')

    assert waiting_run_ids(spool) == [1]
    assert spool.refused() == []
    keep(spool, run_id=2)
    assert not any(half.exists() for half in halves)


@pytest.mark.parametrize("harm", [lambda content: content[:-9], lambda _: b"", lambda _: b"{}\n"])
def test_a_file_that_the_disk_damaged_is_set_aside_and_holds_back_none(
    spool: Spool, harm: Callable[[bytes], bytes]
) -> None:
    first, _ = keep(spool, run_id=1), keep(spool, run_id=2)
    first.path.write_bytes(harm(first.path.read_bytes()))

    with spool.taken(first) as taken:
        assert taken is None
    assert waiting_run_ids(spool) == [2]
    [refused] = spool.refused()
    assert refused.reason == "the file is damaged"
    assert refused.path.exists()


def loop(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize("harm", [Path.mkdir, loop])
def test_a_file_that_cannot_be_opened_stays_and_holds_back_none(
    spool: Spool, harm: Callable[[Path], None]
) -> None:
    first, second = keep(spool, run_id=1), keep(spool, run_id=2)
    first.path.unlink()
    harm(first.path)

    assert spool.waiting() == [second]
    third = keep(spool, run_id=3)
    assert spool.waiting() == [second, third]
    [unopened] = spool.unopened()
    assert unopened.path == first.path
    assert unopened.reason.startswith("the file cannot be opened: ")
    assert spool.refused() == []
    assert first.path.lstat()


@pytest.mark.parametrize("harm", [Path.mkdir, loop])
def test_a_refused_file_that_cannot_be_opened_is_still_told_of(
    spool: Spool, harm: Callable[[Path], None]
) -> None:
    keep(spool)
    (spool.folder / "refused").mkdir()
    harm(spool.folder / "refused" / "one.json")

    [refused] = spool.refused()
    assert refused.reason.startswith("the file cannot be opened: ")


def test_a_report_whose_file_cannot_be_opened_any_more_is_sent_all_the_same(spool: Spool) -> None:
    with answering(Answer(204)) as server:
        kept = keep(spool, address=server.url)
        kept.path.unlink()
        kept.path.mkdir()
        outcome, _ = dispatched(server, spool, [Letter(kept.name, call(), kept)])

    assert [letter.kept for letter in outcome.sent] == [kept]


def test_a_file_of_a_later_hwci_is_left_alone(spool: Spool) -> None:
    path = keep(spool).path
    content = path.read_bytes().replace(b'"format": 1', b'"format": 2')
    path.write_bytes(content)

    assert spool.waiting() == []
    assert spool.refused() == []
    [newer] = spool.unopened()
    assert newer.reason == "a newer hwci wrote it (format 2; this one knows 1), and can send it"
    spool.tidy()
    keep(spool, key=OTHER_KEY)
    assert path.read_bytes() == content


def test_a_report_of_the_version_before_is_replaced_by_a_later_one(spool: Spool) -> None:
    """Its name held the server and the key, too."""
    waiting, refused = keep(spool, run_id=1), keep(spool, run_id=2)
    spool.set_aside(refused, "404")
    for path in (waiting.path, spool.refused()[0].path):
        path.rename(path.with_name(f"{path.name[:21]}{'0' * 32}{path.suffix}"))
    assert waiting_run_ids(spool) == [1]

    later = [keep(spool, run_id=run_id, key=OTHER_KEY) for run_id in (1, 2)]

    assert spool.waiting() == later
    assert len(spool.superseded()) == 2


# Which is the later


def test_what_waits_is_put_aside_before_it_is_sent_if_a_keeper_was_killed_too_early(
    spool: Spool,
) -> None:
    """Killed once its report was on the disk, and before the earlier one was put aside."""
    keep(spool)
    later = keep(spool, key=OTHER_KEY)
    [aside] = spool.superseded()
    aside.path.rename(spool.folder / aside.path.name)
    assert len(spool.waiting()) == 2

    spool.tidy()

    assert spool.waiting() == [later]
    assert len(spool.superseded()) == 1


def test_a_later_report_is_the_later_one_whatever_the_clock_says(tmp_path: Path) -> None:
    times = iter([2_000_000_000.0, 5.0])
    spool = Spool(tmp_path, clock=lambda: next(times))
    spool.set_aside(keep(spool), "404")

    later = keep(spool, key=OTHER_KEY)

    assert spool.waiting() == [later]
    assert (len(spool.refused()), len(spool.superseded())) == (0, 1)


def test_a_report_that_is_sent_while_a_later_one_comes_is_not_told_as_left(spool: Spool) -> None:
    earlier = keep(spool)
    with spool.taken(earlier):
        keep(spool, key=OTHER_KEY)
        assert len(spool.superseded()) == 1
        spool.sent(earlier)

    assert spool.superseded() == []


def test_a_report_that_cannot_be_kept_goes_before_what_waits(tmp_path: Path) -> None:
    with answering(Answer(204)) as server:
        spool = Spool(tmp_path)
        earlier = keep(spool, address=server.url, conclusion="failure")
        other = keep(spool, address=server.url, run_id=99)
        later = Letter("bench-1", call(conclusion="success"))

        dispatched(server, spool, [later])

    assert spool.waiting() == [other]
    assert [one.path.name for one in spool.superseded()] == [earlier.path.name]


def test_a_report_for_a_server_that_nobody_told_goes_to_the_first_that_is(spool: Spool) -> None:
    kept = spool.keep(call(), None, KEY, "bench-1")
    assert kept.address == ""
    assert spool.waiting_for(ADDRESS, fingerprint_of(KEY)) == [kept]
    assert spool.elsewhere(ADDRESS) == []

    spool.readdress(kept, ADDRESS)

    assert [one.address for one in spool.waiting()] == [ADDRESS]


# For another server


def test_a_report_that_is_readdressed_waits_for_the_other_server_in_its_turn(spool: Spool) -> None:
    first, second = keep(spool, address=OTHER_ADDRESS, run_id=1), keep(spool, run_id=2)
    spool.put_off(first, "503", asked_s=60)

    spool.readdress(first, ADDRESS)

    assert [kept.address for kept in spool.waiting()] == [ADDRESS, ADDRESS]
    assert waiting_run_ids(spool) == [1, 2]
    assert spool.waiting()[1] == second


def test_a_readdressed_report_never_follows_a_later_one_of_its_run(spool: Spool) -> None:
    older = keep(spool, address=OTHER_ADDRESS, conclusion="failure")
    newer = keep(spool, conclusion="success")
    spool.readdress(older, ADDRESS)
    assert spool.waiting() == [newer]

    newest = keep(spool, address=OTHER_ADDRESS, conclusion="failure")
    spool.readdress(newest, ADDRESS)
    assert [kept.path.name[:20] for kept in spool.waiting()] == [newest.path.name[:20]]


@pytest.mark.parametrize("refused", [False, True])
def test_a_readdressed_report_never_follows_a_later_one_that_was_sent(
    spool: Spool, refused: bool
) -> None:
    older = keep(spool, address=OTHER_ADDRESS)
    if refused:
        spool.set_aside(older, "404")
    spool.sent(keep(spool))
    if refused:
        assert spool.put_back() == 1
    [older] = spool.waiting()

    spool.readdress(older, ADDRESS)

    assert spool.waiting() == []
    assert len(spool.superseded()) == 1


def test_a_report_is_not_readdressed_while_it_is_sent(spool: Spool) -> None:
    kept = keep(spool, address=OTHER_ADDRESS)

    with spool.taken(kept):
        spool.readdress(kept, ADDRESS)

    assert spool.waiting() == [kept]


# Sharing


def test_two_never_send_one_report_at_once(spool: Spool) -> None:
    kept = keep(spool)

    with spool.taken(kept) as mine, Spool(spool.folder).taken(kept) as theirs:
        assert mine is not None
        assert theirs is None


def test_a_report_is_not_sent_while_an_older_one_of_its_run_is(spool: Spool) -> None:
    older = keep(spool)
    with spool.taken(older) as taken:
        assert taken is not None
        newer = keep(spool, conclusion="failure")
        with spool.taken(newer) as also:
            assert also is None
        spool.put_off(older, "no answer")

    assert spool.waiting() == [newer]
    with spool.taken(newer) as now, spool.taken(older) as gone:
        assert now is not None
        assert gone is None


def test_a_lock_ends_with_the_process_that_held_it(spool: Spool) -> None:
    kept = keep(spool)
    child = os.fork()
    if child == 0:
        with spool.taken(kept):
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)

    with spool.taken(kept) as taken:
        assert taken is not None


# Sending


def dispatched(
    server: AnsweringServer | str, spool: Spool | None, letters: list[Letter], **patience: float
) -> tuple[Outcome, list[float]]:
    """Send without waiting; give the pauses that were made, too."""
    pauses: list[float] = []
    url = server if isinstance(server, str) else server.url
    with Client(url, ci_key=KEY, retries=0) as client:
        outcome = Dispatch(client, spool, Patience(**patience), sleep=pauses.append).send(letters)
    return outcome, pauses


def letters(server: AnsweringServer | str, spool: Spool, *run_ids: int) -> list[Letter]:
    url = server if isinstance(server, str) else server.url
    kept = [keep(spool, address=url, run_id=run_id) for run_id in run_ids]
    return [Letter(one.name, None, one) for one in kept]


def refusal(status: int) -> Answer:
    told = {"statusCode": status, "error": "Refused", "message": "No"}
    return Answer(status, json.dumps(told).encode())


def test_a_report_that_is_too_large_for_a_proxy_waits_and_holds_back_none(spool: Spool) -> None:
    with answering(Answer(413, b"<html>Too large</html>"), Answer(204)) as server:
        outcome, _ = dispatched(server, spool, letters(server, spool, 1, 2), deadline_s=0)

    assert (len(outcome.sent), len(outcome.left)) == (1, 1)
    assert waiting_run_ids(spool) == [1]
    assert spool.refused() == []


@pytest.mark.parametrize("status", [200, 302, 400, 401, 403, 404, 409, 415, 511])
def test_a_stranger_is_shown_the_key_once(spool: Spool, status: int) -> None:
    with answering(Answer(status, b"<html>Sign in</html>"), Answer(204)) as server:
        outcome, pauses = dispatched(server, spool, letters(server, spool, 1, 2, 3))
        assert len(server.received) == 1

    assert (len(outcome.left), len(outcome.untried), pauses) == (1, 2, [])
    assert waiting_run_ids(spool) == [1, 2, 3]
    assert spool.refused() == []


def test_what_a_stranger_never_lets_pass_holds_back_no_other_for_good(spool: Spool) -> None:
    with answering(Answer(403, b"<html>No</html>"), Answer(204)) as server:
        first, *_ = letters(server, spool, 1, 2)
        dispatched(server, spool, [first])
        dispatched(server, spool, letters_of(spool, server.url, None))

        assert [json.loads(one.body)["run_id"] for one in server.received] == [1, 2, 1]


def test_what_was_refused_waits_again_in_its_turn(spool: Spool) -> None:
    with answering(refusal(404)) as server:
        dispatched(server, spool, letters(server, spool, 1))
        letters(server, spool, 2)
        assert spool.put_back() == 1
    assert waiting_run_ids(spool) == [1, 2]
    assert spool.refused() == []


def test_a_refused_report_that_a_later_one_replaced_stays_aside(spool: Spool) -> None:
    with answering(refusal(404)) as server:
        dispatched(server, spool, letters(server, spool, 1))
        letters(server, spool, 1)
        assert spool.put_back() == 0
    assert (len(spool.refused()), len(spool.superseded())) == (0, 1)


@pytest.mark.parametrize("status", [400, 404, 409, 413, 415])
def test_a_refused_report_is_asked_once_and_set_aside_with_the_reason(
    spool: Spool, status: int
) -> None:
    with answering(refusal(status)) as server:
        outcome, pauses = dispatched(server, spool, letters(server, spool, 7))

    assert len(server.received) == 1
    assert pauses == []
    assert spool.waiting() == []
    [refused] = spool.refused()
    assert outcome.refused[0].refused == refused
    content = json.loads(refused.path.read_text())
    assert content["reason"].startswith(f"{status} ")
    assert content["body"] == json.loads(server.received[0].body)
    assert refused.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_ends_the_sending_and_the_reports_stay(
    spool: Spool, status: int
) -> None:
    with answering(refusal(status)) as server:
        outcome, pauses = dispatched(server, spool, letters(server, spool, 1, 2))

    assert len(server.received) == 1
    assert pauses == []
    assert (len(outcome.left), len(outcome.untried)) == (1, 1)
    assert [kept.tries for kept in spool.waiting()] == [1, 0]
    assert spool.waiting()[0].reason.startswith(f"{status} ")


@pytest.mark.parametrize(
    "bad",
    [Answer(status) for status in (408, 425, 429, 500, 502, 503, 504)] + [Answer(reset=True)],
)
def test_what_may_pass_is_tried_again_until_the_server_has_it(spool: Spool, bad: Answer) -> None:
    with answering(bad, bad, Answer(204)) as server:
        outcome, pauses = dispatched(server, spool, letters(server, spool, 1, 2), first_s=0)

    assert len(outcome.sent) == 2
    assert not spool.waiting()
    assert not spool.refused()
    assert len(pauses) <= 2


def test_a_server_that_is_away_is_left_alone_after_one_report(spool: Spool) -> None:
    url = unused_url()
    outcome, _ = dispatched(url, spool, letters(url, spool, 1, 2, 3), deadline_s=0)

    assert (len(outcome.left), len(outcome.untried)) == (1, 2)
    assert [kept.tries for kept in spool.waiting()] == [1, 0, 0]
    assert "refused" in spool.waiting()[0].reason


def test_a_report_that_the_server_stumbles_over_holds_back_no_other(spool: Spool) -> None:
    with answering(Answer(500), Answer(204)) as server:
        outcome, _ = dispatched(server, spool, letters(server, spool, 1, 2), deadline_s=0)

    assert len(outcome.sent) == 1
    assert waiting_run_ids(spool) == [1]


def test_a_server_that_stumbles_and_asks_for_a_pause_is_sent_no_other(spool: Spool) -> None:
    asks = Answer(500, headers={"Retry-After": "30"})
    with answering(asks, Answer(204)) as server:
        outcome, _ = dispatched(server, spool, letters(server, spool, 1, 2), deadline_s=0)
        assert len(server.received) == 1

    assert (len(outcome.left), len(outcome.untried)) == (1, 1)
    assert waiting_run_ids(Spool(spool.folder, clock=lambda: time.time() + 31)) == [1, 2]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_the_pause_that_a_server_asks_for_is_made(spool: Spool, status: int) -> None:
    asks = Answer(status, headers={"Retry-After": "30"})
    with answering(asks, Answer(204)) as server:
        own = letters(server, spool, 1)
        unkept = [Letter(one.name, call(), None) for one in own]
        outcome, pauses = dispatched(server, None, unkept)

    assert len(outcome.sent) == 1
    assert len(pauses) == 1
    assert pauses[0] >= 30


def test_a_pause_beyond_the_deadline_is_not_undercut_and_outlives_the_process(spool: Spool) -> None:
    asks = Answer(429, headers={"Retry-After": "300"})
    with answering(asks, Answer(204)) as server:
        outcome, pauses = dispatched(server, spool, letters(server, spool, 1), deadline_s=60)
        assert (len(outcome.left), pauses, len(server.received)) == (1, [], 1)

        later = Spool(spool.folder)
        [kept] = later.waiting()
        assert 290 < later.not_before(kept.address, kept.fingerprint) <= 300
        with later.taken(kept) as taken:
            assert taken is None

        after = Spool(spool.folder, clock=lambda: time.time() + 301)
        assert after.not_before(kept.address, kept.fingerprint) == 0
        outcome, _ = dispatched(server, after, letters_of(after, kept.address, kept.fingerprint))
        assert len(outcome.sent) == 1


def test_a_server_is_left_alone_for_ten_minutes_at_the_most(spool: Spool) -> None:
    with answering(Answer(503, headers={"Retry-After": "86400"})) as server:
        dispatched(server, spool, letters(server, spool, 1))
    [kept] = spool.waiting()
    set_back = Spool(spool.folder, clock=lambda: 0.0)

    assert 590 < spool.not_before(kept.address, kept.fingerprint) <= 600
    assert set_back.not_before(kept.address, kept.fingerprint) == 0


def test_backoff_grows_to_its_end_and_is_spread() -> None:
    patience = Patience(first_s=0.5, most_s=8)

    assert [patience.pause(failures, 1.0) for failures in range(1, 7)] == [0.5, 1, 2, 4, 8, 8]
    assert patience.pause(3, 0.25) == 0.5
    assert patience.pause(10_000, 1.0) == 8


def test_a_report_that_another_process_sent_meanwhile_counts_as_that_ones(spool: Spool) -> None:
    with answering(Answer(204)) as server:
        mine = letters(server, spool, 1)
        spool.sent(spool.waiting()[0])
        outcome, _ = dispatched(server, spool, mine)

    assert (outcome.sent, outcome.elsewhere) == ([], mine)
    assert server.received == []


def test_a_report_that_a_later_one_replaced_is_not_sent_before_that_one_is(spool: Spool) -> None:
    with answering(Answer(204)) as server:
        mine = letters(server, spool, 1)
        [later] = letters(server, spool, 1)
        outcome, _ = dispatched(server, spool, mine, deadline_s=0)
        assert (outcome.sent, outcome.untried) == ([], mine)

        assert later.kept is not None
        spool.sent(later.kept)
        outcome, _ = dispatched(server, spool, mine, deadline_s=0)
        assert outcome.elsewhere == mine


def test_a_report_that_another_process_saw_refused_counts_as_refused(spool: Spool) -> None:
    with answering(Answer(204)) as server:
        mine = letters(server, spool, 1)
        spool.set_aside(spool.waiting()[0], "400 Bad Request: no")
        outcome, _ = dispatched(server, spool, mine)

    assert [unsent.letter for unsent in outcome.refused] == mine
    assert outcome.sent == []


def test_a_spool_that_vanishes_does_not_hold_back_what_is_in_hand(spool: Spool) -> None:
    kept = keep(spool)
    spool.folder.rename(spool.folder.with_name("gone"))
    with answering(Answer(204)) as server:
        outcome, _ = dispatched(server, spool, [Letter("bench-1", call(), kept)])

    assert len(outcome.sent) == 1


def test_a_round_ends_with_the_deadline_and_what_is_left_waits(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The start, then of each report what is left for it, and whether the next is begun.
    moments = iter([0.0, 1.0, 1.0, 1.0, 11.0, 11.0, 11.0])
    clock = SimpleNamespace(monotonic=lambda: next(moments))
    with answering(Answer(204), Answer(204), Answer(204)) as server:
        waiting = letters(server, spool, 1, 2, 3)
        monkeypatch.setattr("hwci.client.dispatch.time", clock)
        outcome, _ = dispatched(server, spool, waiting, deadline_s=10)

    assert (outcome.sent, outcome.untried) == (waiting[:2], waiting[2:])
    assert [one.path for one in spool.waiting()] == [waiting[2].kept and waiting[2].kept.path]
