# SPDX-License-Identifier: Apache-2.0
"""Bodies take buffer as they arrive. Where there is none, who holds the most gives way: first the
organization, then its key, then its largest body; small ones and newcomers pass.
"""

import asyncio
import gzip
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from hwci.server.errors import OverloadedError
from hwci.server.http.bodies import body
from hwci.server.http.bodies import buffers as large_bodies
from hwci.server.http.bodies.body import APART_BYTES
from hwci.server.http.bodies.buffers import BodyBuffer, LargeBodies
from hwci.wire import limits
from tests.support.asking import Reply, ask, bearer, ci_key, connect, first_reply, read_reply
from tests.support.running import RunningServer, report, running_in_thread

PATH = "/api/ci/run-report"
JSON = ("Content-Type", "application/json")
BODY = json.dumps(report()).encode()
LARGE = BODY + b" " * APART_BYTES
ROOM = 4 * len(LARGE)
FULL = (503, "Too many large bodies arrive at once; try again in a few seconds")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningServer]:
    """Run a server that has room for four of our large bodies."""
    monkeypatch.setattr(large_bodies, "ROOM_BYTES", ROOM)
    with running_in_thread(tmp_path) as running:
        yield running


def another_key(server: RunningServer) -> str:
    path = f"/api/orgs/{server.org_id}/ci-keys"
    reply = ask(server.url, "POST", path, bearer(server.token), json_body={"name": "other"})
    return str(reply.json["apiKey"])


def send(server: RunningServer, data: bytes, *headers: tuple[str, str]) -> Reply:
    return ask(server.url, "POST", PATH, ci_key(server.ci_key), JSON, *headers, data=data)


@contextmanager
def half_sent(
    server: RunningServer, sent: bytes, key: str = "", how: str = "Content-Length: 2000000"
) -> Iterator[socket.socket]:
    """Send the head of a body and so much of it, and nothing more."""
    head = (
        f"POST {PATH} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n"
        f"X-API-Key: {key or server.ci_key}\r\nContent-Type: application/json\r\n{how}\r\n\r\n"
    )
    with connect(server.url) as line:
        line.sendall(head.encode() + sent)
        yield line


def answer_on(line: socket.socket) -> Reply:
    raw = b""
    while chunk := line.recv(65536):
        raw += chunk
    return read_reply(raw)


def test_what_is_announced_takes_no_room(server: RunningServer) -> None:
    with ExitStack() as lines:
        for _ in range(20):
            lines.enter_context(half_sent(server, b"{"))

        assert send(server, LARGE).status == 204
        assert send(server, gzip.compress(LARGE), ("Content-Encoding", "gzip")).status == 204


def test_a_client_that_holds_the_most_gives_way_to_another_key(server: RunningServer) -> None:
    with half_sent(server, b" " * (ROOM - 1_000)) as greedy:
        other = another_key(server)
        headers = (ci_key(other), JSON)
        assert ask(server.url, "POST", PATH, *headers, data=LARGE).status == 204

        assert answer_on(greedy).error == FULL


def test_a_client_that_alone_wants_more_than_there_is_comes_again(server: RunningServer) -> None:
    refused = send(server, BODY + b" " * ROOM)

    assert refused.error == FULL
    assert refused.headers["retry-after"] == "5"
    assert send(server, LARGE).status == 204


def test_a_refused_body_gives_its_room_back(server: RunningServer) -> None:
    for _ in range(5):
        assert send(server, LARGE + b"}").status == 400
    assert send(server, LARGE).status == 204


@pytest.mark.parametrize("how", ["Content-Length: 60000000", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_a_client_that_has_no_key_is_answered_before_there_is_a_body(
    server: RunningServer, how: str, encoding: str
) -> None:
    """Nothing is read, let alone inflated, for who may not send it."""
    how = f"{how}\r\nContent-Encoding: {encoding}"
    with half_sent(server, b"", f"svc_{'0' * 64}", how) as line:
        assert first_reply(line).error[0] == 401


@pytest.mark.parametrize("how", ["Content-Length: 2000000000", "Transfer-Encoding: chunked"])
def test_a_long_body_without_a_key_is_hardly_read(server: RunningServer, how: str) -> None:
    """No more than the system keeps of it: who is answered and sends on is cut."""
    chunk = b" " * 65_536
    if "chunked" in how:
        chunk = b"10000\r\n" + chunk + b"\r\n"
    with half_sent(server, chunk, f"svc_{'0' * 64}", how) as line:
        reply = first_reply(line)
        assert (reply.status, reply.headers["connection"]) == (401, "close")
        with pytest.raises(ConnectionError):
            line.sendall(chunk * 1_000)


def test_a_body_that_drips_gives_its_place_back(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body, "PACE_SECONDS", 0.2)
    with half_sent(server, b" " * body.PACE_BYTES) as line:
        given = "Less than 10240 bytes of the body came in 0.2 s; send it faster"
        assert answer_on(line).error == (408, given)


def test_a_large_body_has_longer(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "BODY_SECONDS", 0.1)
    monkeypatch.setattr(body, "LARGE_SECONDS", 0.3)
    with half_sent(server, b" ") as small, half_sent(server, b" " * (body.LARGE_BYTES + 1)) as line:
        assert "within 0.1 s" in answer_on(small).error[1]
        assert "within 0.3 s" in answer_on(line).error[1]


def test_the_largest_report_with_usual_paths_is_taken(tmp_path: Path) -> None:
    files = [f"{number:04}".ljust(60, "x") for number in range(limits.FILES_MAX)]
    commit = {"sha": "b" * 40, "subject": "s", "files": files}
    commits = [{**commit, "sha": f"{number:040x}"} for number in range(limits.COMMITS_MAX)]
    tests = [
        {"id": f"test_{number}", "outcome": "pass", "attempts": 1, "duration_s": 1}
        for number in range(limits.TESTS_MAX)
    ]
    body = report(tests=tests, changes={"base_sha": None, "commits": commits})
    data = json.dumps(body, separators=(",", ":")).encode()

    assert len(data) > 31_000_000
    with running_in_thread(tmp_path) as server:
        assert send(server, data).status == 204


def readers() -> list[str]:
    """Return the processes of ours that read bodies."""
    tasks = Path("/proc/self/task").iterdir()
    children = [child for task in tasks for child in (task / "children").read_text().split()]
    return [
        child
        for child in children
        if b"bodies.apart" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def test_a_server_that_has_stopped_reads_no_bodies(tmp_path: Path) -> None:
    with running_in_thread(tmp_path) as server:
        assert send(server, LARGE).status == 204
        assert len(readers()) == 1

    assert readers() == []


class Holder:
    """A body of a key of an organization, which waits for its end or for its turn."""

    def __init__(self, bodies: LargeBodies, organization: str, key: str = "key") -> None:
        self.buffer = bodies.buffer()
        self.buffer.charge_to(organization, key)
        self.answered = asyncio.Event()
        self.task = asyncio.create_task(self._arrive())

    async def _arrive(self) -> None:
        async with self.buffer, self.buffer.wait_at_most(60):
            await self.answered.wait()

    async def gave_way(self) -> bool:
        await asyncio.sleep(0.01)
        return self.task.done() and isinstance(self.task.exception(), OverloadedError)


async def holders(bodies: LargeBodies, *wanted: tuple[str, str, int]) -> list[Holder]:
    found = [Holder(bodies, organization, key) for organization, key, _ in wanted]
    await asyncio.sleep(0)
    for holder, (_, _, size) in zip(found, wanted, strict=True):
        holder.buffer.take(bytes(size))
    return found


@pytest.fixture
def bodies(monkeypatch: pytest.MonkeyPatch) -> LargeBodies:
    monkeypatch.setattr(large_bodies, "ROOM_BYTES", 100)
    return LargeBodies()


@pytest.mark.parametrize(
    "wanted",
    [
        # The second gives way: of the organization, of its key, and as a body, the greatest.
        [("a", "1", 40), ("b", "1", 50), ("a", "2", 5)],
        [("a", "1", 20), ("a", "2", 45), ("b", "1", 30)],
        [("a", "1", 20), ("a", "1", 40), ("b", "1", 39)],
    ],
)
async def test_the_greatest_gives_way_to_a_newcomer(
    bodies: LargeBodies, wanted: list[tuple[str, str, int]]
) -> None:
    found = await holders(bodies, *wanted)
    (newcomer,) = await holders(bodies, ("c", "1", 10))

    assert [await holder.gave_way() for holder in found] == [False, True, False]
    assert not await newcomer.gave_way()


async def test_a_client_that_is_the_greatest_is_refused_and_nobody_else(
    bodies: LargeBodies,
) -> None:
    greedy, other = await holders(bodies, ("a", "1", 50), ("b", "1", 40))

    with pytest.raises(OverloadedError):
        greedy.buffer.take(bytes(20))
    assert not await other.gave_way()


async def test_the_client_that_claims_is_refused_among_equals(bodies: LargeBodies) -> None:
    first, second = await holders(bodies, ("a", "1", 50), ("b", "1", 50))

    with pytest.raises(OverloadedError):
        second.buffer.take(bytes(1))
    assert not await first.gave_way()


async def test_a_client_that_is_read_does_not_give_way(bodies: LargeBodies) -> None:
    """What it holds is in use, and comes back soon."""
    async with bodies.buffer() as read:
        read.charge_to("a", "1")
        read.take(bytes(90))
        await read.wait_turn()
        (other,) = await holders(bodies, ("b", "1", 10))
        with pytest.raises(OverloadedError):
            other.buffer.take(bytes(1))


async def test_a_client_that_holds_nothing_cannot_give_way(bodies: LargeBodies) -> None:
    """Even if its organization holds the most, by a body that is read."""
    async with bodies.buffer() as read:
        read.charge_to("a", "1")
        read.take(bytes(60))
        await read.wait_turn()
        empty, other = await holders(bodies, ("a", "1", 0), ("b", "1", 40))
        with pytest.raises(OverloadedError):
            other.buffer.take(bytes(1))
        assert not await empty.gave_way()


async def test_a_client_that_runs_out_of_time_just_now_gives_way_too(bodies: LargeBodies) -> None:
    greedy, other = await holders(bodies, ("a", "1", 60), ("b", "1", 40))
    assert greedy.buffer._waiting is not None
    greedy.buffer._waiting.reschedule(0)
    await asyncio.sleep(0)  # its time is up, and it has not been told yet

    other.buffer.take(bytes(10))

    assert [await holder.gave_way() for holder in (greedy, other)] == [True, False]


async def test_a_client_that_gives_way_as_its_turn_comes_is_not_read(bodies: LargeBodies) -> None:
    """It is empty now: read, it would be refused for good, and never sent again."""
    async with bodies.buffer() as newcomer:
        newcomer.charge_to("b", "key")
        async with bodies.buffer() as first:
            await first.wait_turn()
            leaving = asyncio.create_task(one_turn(bodies, "a", 90))
            await asyncio.sleep(0.01)
        newcomer.take(bytes(20))
        await asyncio.wait([leaving])

    assert isinstance(leaving.exception(), OverloadedError)
    assert bodies.read is None


async def test_nothing_is_left_of_those_who_went(bodies: LargeBodies) -> None:
    found = await holders(bodies, *[(str(number), "key", 10) for number in range(10)])
    found[0].task.cancel()
    for holder in found[1:]:
        holder.answered.set()
    await asyncio.gather(*(holder.task for holder in found), return_exceptions=True)

    assert (bodies.held, bodies.shares, bodies.movable, bodies.line) == (0, {}, set(), [])


async def in_turn(bodies: LargeBodies, *wanted: tuple[str, str]) -> list[str]:
    """Return in which order bodies are read that wait together while another is read."""
    order: list[str] = []

    async def wait(organization: str, key: str) -> None:
        async with bodies.buffer() as buffer:
            buffer.charge_to(organization, key)
            await buffer.wait_turn()
            order.append(organization + key)
            await asyncio.sleep(0)

    async with bodies.buffer() as first:
        await first.wait_turn()
        waiting = []
        for organization, key in wanted:
            waiting.append(asyncio.create_task(wait(organization, key)))
            await asyncio.sleep(0)
    await asyncio.gather(*waiting)
    return order


async def test_large_bodies_are_read_in_turn_by_organization_and_key(bodies: LargeBodies) -> None:
    wanted = [("a", "1")] * 3 + [("a", "2"), ("b", "1"), ("b", "1")]

    assert await in_turn(bodies, *wanted) == ["a1", "b1", "a2", "b1", "a1", "a1"]


async def test_one_is_read_at_a_time_until_its_request_is_answered(bodies: LargeBodies) -> None:
    read = 0

    async def wait(buffer: BodyBuffer) -> None:
        nonlocal read
        async with buffer:
            buffer.charge_to(uuid4(), uuid4())
            await buffer.wait_turn()
            read += 1
            assert read == 1
            await asyncio.sleep(0.001)
            read -= 1

    await asyncio.gather(*(wait(bodies.buffer()) for _ in range(10)))


async def one_turn(bodies: LargeBodies, organization: str, size: int) -> None:
    async with bodies.buffer() as buffer:
        buffer.charge_to(organization, "key")
        buffer.take(bytes(size))
        await buffer.wait_turn()


@pytest.mark.parametrize("gone", ["cancelled", "gave way"])
async def test_a_client_that_goes_out_of_the_line_leaves_the_turn_to_the_next(
    bodies: LargeBodies, gone: str
) -> None:
    async with bodies.buffer() as first, bodies.buffer() as newcomer:
        await first.wait_turn()
        leaving = asyncio.create_task(one_turn(bodies, "a", 90))
        staying = asyncio.create_task(one_turn(bodies, "b", 1))
        await asyncio.sleep(0.01)
        if gone == "gave way":
            newcomer.charge_to("c", "key")
            newcomer.take(bytes(20))
    if gone == "cancelled":
        leaving.cancel()
    await staying
    await asyncio.wait([leaving])

    assert leaving.cancelled() or isinstance(leaving.exception(), OverloadedError)


async def test_a_client_that_is_cancelled_as_its_turn_comes_leaves_it_to_the_next(
    bodies: LargeBodies,
) -> None:
    async with bodies.buffer() as first:
        await first.wait_turn()
        leaving = asyncio.create_task(one_turn(bodies, "a", 1))
        staying = asyncio.create_task(one_turn(bodies, "b", 1))
        await asyncio.sleep(0.01)
    leaving.cancel()
    await staying

    assert leaving.cancelled()
    assert (bodies.read, bodies.line) == (None, [])


async def test_a_client_that_waits_too_long_for_a_turn_comes_again(
    bodies: LargeBodies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_bodies, "TURN_SECONDS", 0.01)
    async with bodies.buffer() as first, bodies.buffer() as second:
        await first.wait_turn()
        with pytest.raises(OverloadedError):
            await second.wait_turn()
