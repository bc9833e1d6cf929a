# SPDX-License-Identifier: Apache-2.0
"""Sending reports until the server has them: which are tried, in which order, how long."""

import json
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from hwci.client import Client
from hwci.client.delivery.sending import UNHEARD_S, Dispatch, Patience
from hwci.client.delivery.unsent import Outcome
from hwci.client.store import BenchStore, PendingReport
from tests.support.answering import Answer, AnsweringServer, answering, unused_url
from tests.support.pending import KEY, in_state, keep, pending, run_ids, waiting


@pytest.fixture
def store(tmp_path: Path) -> BenchStore:
    return BenchStore(tmp_path / "spool")


def dispatched(
    server: AnsweringServer | str,
    store: BenchStore | None,
    reports: list[PendingReport],
    **patience: float,
) -> tuple[Outcome, list[float]]:
    """Send without waiting; return the pauses that were made, too."""
    pauses: list[float] = []
    url = server if isinstance(server, str) else server.url
    with Client(url, ci_key=KEY, retries=0) as client:
        outcome = Dispatch(client, store, Patience(**patience), sleep=pauses.append).send(reports)
    return outcome, pauses


def kept_for(
    server: AnsweringServer | str, store: BenchStore, *run_ids: int
) -> list[PendingReport]:
    """Keep reports, as a command finds them that did not build them."""
    url = server if isinstance(server, str) else server.url
    return [replace(keep(store, address=url, run_id=run_id), call=None) for run_id in run_ids]


def refusal(status: int) -> Answer:
    given = {"statusCode": status, "error": "Refused", "message": "No"}
    return Answer(status, json.dumps(given).encode())


def test_a_report_that_is_too_large_for_a_proxy_waits_and_delays_no_other(
    store: BenchStore,
) -> None:
    with answering(Answer(413, b"<html>Too large</html>"), Answer(204)) as server:
        outcome, _ = dispatched(server, store, kept_for(server, store, 1, 2), deadline_s=0)

    assert (len(outcome.sent), len(outcome.left)) == (1, 1)
    assert run_ids(store) == [1]
    assert in_state(store, "refused") == []


@pytest.mark.parametrize("status", [200, 302, 400, 401, 403, 404, 409, 415, 511])
def test_a_stranger_is_shown_the_key_once(store: BenchStore, status: int) -> None:
    with answering(Answer(status, b"<html>Sign in</html>"), Answer(204)) as server:
        outcome, pauses = dispatched(server, store, kept_for(server, store, 1, 2, 3))
        assert len(server.received) == 1

    assert (len(outcome.left), len(outcome.untried), pauses) == (1, 2, [])
    assert run_ids(store) == [1, 2, 3]
    assert in_state(store, "refused") == []


def test_a_report_that_a_foreign_server_always_refuses_never_blocks_others(
    store: BenchStore,
) -> None:
    with answering(Answer(403, b"<html>No</html>"), Answer(204)) as server:
        first, *_ = kept_for(server, store, 1, 2)
        dispatched(server, store, [first])
        dispatched(server, store, store.waiting_for(server.url, None))

        assert [json.loads(one.body)["run_id"] for one in server.received] == [1, 2, 1]


def test_a_refused_report_waits_again_in_its_turn(store: BenchStore) -> None:
    with answering(refusal(404)) as server:
        dispatched(server, store, kept_for(server, store, 1))
        kept_for(server, store, 2)
        assert store.put_back() == 1
    assert run_ids(store) == [1, 2]
    assert in_state(store, "refused") == []


def test_a_refused_report_that_a_later_one_replaced_stays_aside(store: BenchStore) -> None:
    with answering(refusal(404)) as server:
        dispatched(server, store, kept_for(server, store, 1))
        kept_for(server, store, 1)
        assert store.put_back() == 0
    assert (len(in_state(store, "refused")), len(in_state(store, "superseded"))) == (0, 1)


@pytest.mark.parametrize("status", [400, 404, 409, 413, 415])
def test_a_refused_report_is_asked_once_and_set_aside_with_the_reason(
    store: BenchStore, status: int
) -> None:
    with answering(refusal(status)) as server:
        outcome, pauses = dispatched(server, store, kept_for(server, store, 7))

    assert len(server.received) == 1
    assert pauses == []
    assert waiting(store) == []
    [refused] = in_state(store, "refused")
    assert outcome.refused[0].aside == refused
    assert refused.reason.startswith(f"{status} ")
    assert store.body(refused) == server.received[0].body


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_ends_the_sending_and_the_reports_stay(
    store: BenchStore, status: int
) -> None:
    with answering(refusal(status)) as server:
        outcome, pauses = dispatched(server, store, kept_for(server, store, 1, 2))

    assert len(server.received) == 1
    assert pauses == []
    assert (len(outcome.left), len(outcome.untried)) == (1, 1)
    assert [kept.tries for kept in waiting(store)] == [1, 0]
    assert waiting(store)[0].reason.startswith(f"{status} ")


@pytest.mark.parametrize(
    "bad",
    [Answer(status) for status in (408, 425, 429, 500, 502, 503, 504)] + [Answer(reset=True)],
)
def test_a_passing_fault_is_retried_until_the_server_has_the_report(
    store: BenchStore, bad: Answer
) -> None:
    with answering(bad, bad, Answer(204)) as server:
        outcome, pauses = dispatched(server, store, kept_for(server, store, 1, 2), first_s=0)

    assert len(outcome.sent) == 2
    assert not waiting(store)
    assert not in_state(store, "refused")
    assert len(pauses) <= 2


def test_a_server_that_is_away_is_left_alone_after_one_report(store: BenchStore) -> None:
    url = unused_url()
    outcome, _ = dispatched(url, store, kept_for(url, store, 1, 2, 3), deadline_s=0)

    assert (len(outcome.left), len(outcome.untried)) == (1, 2)
    assert [kept.tries for kept in waiting(store)] == [1, 0, 0]
    assert "refused" in waiting(store)[0].reason


def test_a_report_that_breaks_the_server_delays_no_other(store: BenchStore) -> None:
    with answering(Answer(500), Answer(204)) as server:
        outcome, _ = dispatched(server, store, kept_for(server, store, 1, 2), deadline_s=0)

    assert len(outcome.sent) == 1
    assert run_ids(store) == [1]


def test_a_server_that_stumbles_and_asks_for_a_pause_is_sent_no_other(store: BenchStore) -> None:
    asks = Answer(500, headers={"Retry-After": "30"})
    with answering(asks, Answer(204)) as server:
        outcome, _ = dispatched(server, store, kept_for(server, store, 1, 2), deadline_s=0)
        assert len(server.received) == 1

    assert (len(outcome.left), len(outcome.untried)) == (1, 1)
    assert run_ids(BenchStore(store.folder, clock=lambda: time.time() + 31)) == [1, 2]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_the_pause_that_a_server_asks_for_is_made(status: int) -> None:
    asks = Answer(status, headers={"Retry-After": "30"})
    with answering(asks, Answer(204)) as server:
        outcome, pauses = dispatched(server, None, [pending()])

    assert len(outcome.sent) == 1
    assert len(pauses) == 1
    assert pauses[0] >= 30


def test_a_pause_beyond_the_deadline_is_not_undercut_and_outlives_the_process(
    store: BenchStore,
) -> None:
    asks = Answer(429, headers={"Retry-After": "300"})
    with answering(asks, Answer(204)) as server:
        outcome, pauses = dispatched(server, store, kept_for(server, store, 1), deadline_s=60)
        assert (len(outcome.left), pauses, len(server.received)) == (1, [], 1)

        later = BenchStore(store.folder)
        [kept] = waiting(later)
        assert 290 < later.not_before(kept.address, kept.fingerprint) <= 300
        with later.taken(kept) as taken:
            assert taken is None

        after = BenchStore(store.folder, clock=lambda: time.time() + 301)
        assert after.not_before(kept.address, kept.fingerprint) == 0
        outcome, _ = dispatched(server, after, after.waiting_for(kept.address, kept.fingerprint))
        assert len(outcome.sent) == 1


def test_a_server_is_left_alone_for_ten_minutes_at_the_most(store: BenchStore) -> None:
    with answering(Answer(503, headers={"Retry-After": "86400"})) as server:
        dispatched(server, store, kept_for(server, store, 1))
    [kept] = waiting(store)
    set_back = BenchStore(store.folder, clock=lambda: 0.0)

    assert 590 < store.not_before(kept.address, kept.fingerprint) <= 600
    assert set_back.not_before(kept.address, kept.fingerprint) == 0


def test_backoff_grows_to_its_end_and_is_spread() -> None:
    patience = Patience(first_s=0.5, most_s=8)

    assert [patience.pause(failures, 1.0) for failures in range(1, 7)] == [0.5, 1, 2, 4, 8, 8]
    assert patience.pause(3, 0.25) == 0.5
    assert patience.pause(10_000, 1.0) == 8


def test_a_report_that_another_process_sent_meanwhile_counts_as_that_ones(
    store: BenchStore,
) -> None:
    with answering(Answer(204)) as server:
        mine = kept_for(server, store, 1)
        store.sent(waiting(store)[0])
        outcome, _ = dispatched(server, store, mine)

    assert (outcome.sent, outcome.elsewhere) == ([], mine)
    assert server.received == []


def test_a_report_that_a_later_one_replaced_is_not_sent_before_that_one_is(
    store: BenchStore,
) -> None:
    with answering(Answer(204)) as server:
        mine = kept_for(server, store, 1)
        [later] = kept_for(server, store, 1)
        outcome, _ = dispatched(server, store, mine, deadline_s=0)
        assert (outcome.sent, outcome.untried) == ([], mine)

        store.sent(later)
        outcome, _ = dispatched(server, store, mine, deadline_s=0)
        assert outcome.elsewhere == mine


def test_a_report_that_another_process_saw_refused_counts_as_refused(store: BenchStore) -> None:
    with answering(Answer(204)) as server:
        mine = kept_for(server, store, 1)
        store.refuse(waiting(store)[0], "400 Bad Request: no")
        outcome, _ = dispatched(server, store, mine)

    assert [unsent.report for unsent in outcome.refused] == mine
    assert outcome.sent == []


def test_a_store_that_vanishes_does_not_delay_the_current_report(store: BenchStore) -> None:
    kept = keep(store)
    store.folder.rename(store.folder.with_name("gone"))
    with answering(Answer(204)) as server:
        outcome, _ = dispatched(server, store, [kept])

    assert len(outcome.sent) == 1


def test_a_round_ends_with_the_deadline_and_what_is_left_waits(
    store: BenchStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The start, then of each report what is left for it, and whether the next is begun.
    moments = iter([0.0, 1.0, 1.0, 1.0, 11.0, 11.0, 11.0])
    clock = SimpleNamespace(monotonic=lambda: next(moments))
    with answering(Answer(204), Answer(204), Answer(204)) as server:
        mine = kept_for(server, store, 1, 2, 3)
        monkeypatch.setattr("hwci.client.delivery.sending.time", clock)
        outcome, _ = dispatched(server, store, mine, deadline_s=10)

    assert (outcome.sent, outcome.untried) == (mine[:2], mine[2:])
    assert [one.number for one in waiting(store)] == [mine[2].number]


class Clock:
    """A clock that only pauses move; `Dispatch` reads it in place of the machine's."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        there = SimpleNamespace(monotonic=lambda: self.now)
        monkeypatch.setattr("hwci.client.delivery.sending.time", there)

    def sleep(self, seconds: float) -> None:
        self.now += seconds


STRANGER = Answer(503, b"<html>Away</html>")
ITS_OWN = Answer(
    503, b'{"statusCode": 503, "error": "Service Unavailable", "message": "The disk is full"}'
)


@pytest.mark.parametrize("where", ["refused", "unknown name", "stranger"])
def test_where_no_hwci_answers_a_report_is_left_after_ten_seconds(
    store: BenchStore, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    clock = Clock(monkeypatch)
    with answering(STRANGER) as server:
        urls = {"refused": unused_url(), "unknown name": "http://hwci.invalid"}
        url = urls.get(where, server.url)
        with Client(url, ci_key=KEY, retries=0) as client:
            dispatch = Dispatch(client, store, Patience(unheard_s=UNHEARD_S), sleep=clock.sleep)
            outcome = dispatch.send([keep(store, address=url, run_id=1)])

    assert clock.now == pytest.approx(10)
    assert (len(outcome.left), len(waiting(store))) == (1, 1)


def test_a_server_that_answers_itself_is_tried_for_the_whole_deadline(
    store: BenchStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    with answering(ITS_OWN) as server, Client(server.url, ci_key=KEY, retries=0) as client:
        dispatch = Dispatch(client, store, Patience(unheard_s=UNHEARD_S), sleep=clock.sleep)
        dispatch.send([keep(store, address=server.url, run_id=1)])

    assert 120 - 8 <= clock.now <= 120


def test_a_server_that_answers_again_restarts_the_ten_seconds(
    store: BenchStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    given = [STRANGER, STRANGER, STRANGER, ITS_OWN, STRANGER, STRANGER, STRANGER, ITS_OWN]
    with answering(*given, STRANGER) as server, Client(server.url, ci_key=KEY, retries=0) as client:
        slow = Patience(unheard_s=UNHEARD_S, first_s=8)
        monkeypatch.setattr("hwci.client.delivery.sending.random.random", lambda: 0.5)
        Dispatch(client, store, slow, sleep=clock.sleep).send(
            [keep(store, address=server.url, run_id=1)]
        )
        assert len(server.received) > len(given)
    assert clock.now > 2 * UNHEARD_S


def test_a_pause_that_a_stranger_asks_for_is_not_cut_short(
    store: BenchStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    asks = Answer(503, b"<html>Away</html>", headers={"Retry-After": "30"})
    with answering(asks) as server, Client(server.url, ci_key=KEY, retries=0) as client:
        dispatch = Dispatch(client, store, Patience(unheard_s=UNHEARD_S), sleep=clock.sleep)
        outcome = dispatch.send([keep(store, address=server.url, run_id=1)])
        assert len(server.received) == 1
    assert (len(outcome.left), clock.now) == (1, 0)


def test_a_limit_of_a_proxy_is_not_taken_for_that_of_the_server(
    store: BenchStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, shown = Clock(monkeypatch), list[str]()
    proxy = Answer(429, b"<html>Slow down</html>", headers={"Content-Type": "text/html"})
    with (
        answering(proxy, Answer(204)) as server,
        Client(server.url, ci_key=KEY, retries=0) as client,
    ):

        def pause(seconds: float) -> None:
            shown.append(dispatch.progress())
            clock.sleep(seconds)

        dispatch = Dispatch(client, store, Patience(), sleep=pause)
        dispatch.send([keep(store, address=server.url, run_id=1)])

    assert shown[0].startswith("0 of 1 sent. 429")
    assert "HWCI_RATE_LIMIT" not in shown[0]


def test_a_wait_is_shown_with_its_cause_and_the_time_left(
    store: BenchStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, result = Clock(monkeypatch), list[str]()
    full = Answer(
        429,
        json.dumps({"statusCode": 429, "error": "Too Many Requests", "message": "Full"}).encode(),
    )
    answers = (Answer(204), ITS_OWN, full, full, Answer(204))
    with answering(*answers) as server, Client(server.url, ci_key=KEY, retries=0) as client:

        def pause(seconds: float) -> None:
            result.append(dispatch.progress())
            clock.sleep(seconds + 1)

        dispatch = Dispatch(client, store, Patience(), sleep=pause)
        result.append(dispatch.progress())
        dispatch.send([keep(store, address=server.url, run_id=number) for number in (1, 2)])

    assert result[0] == f"0 of 0 sent. No answer from {server.url} yet. Trying for 120 s more …"
    why = "503 Service Unavailable: The disk is full"
    assert result[1] == f"1 of 2 sent. {why}. Trying for 120 s more …"
    limit = "the server's HWCI_RATE_LIMIT is for all requests of one address. Trying"
    assert result[2].startswith(f"1 of 2 sent. 429 Too Many Requests: Full; {limit}")
    assert dispatch.progress().startswith("2 of 2 sent. Trying for ")
