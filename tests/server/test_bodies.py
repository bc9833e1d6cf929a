# SPDX-License-Identifier: Apache-2.0
"""Where a body is read: the event loop, which serves everybody, reads short ones alone; long ones
are read in a process that takes no more than one body may.
"""

import asyncio
import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import field_validator

from hwci.server.errors import OverloadedError
from hwci.server.http.bodies import apart
from hwci.server.http.bodies.apart import KEPT_BYTES
from hwci.server.http.bodies.body import APART_BYTES, THREAD_BYTES, parse, plain_size
from hwci.server.http.bodies.buffers import PIECE_BYTES, BodyBuffer, LargeBodies
from hwci.server.http.bodies.reading import inflate, read_model
from hwci.server.http.bodies.strict_json import _STEP
from hwci.server.http.refusals import (
    InvalidRequestError,
    TooCostlyError,
    TooLargeError,
    TooManyValuesError,
)
from hwci.wire import limits
from hwci.wire.base import Body, CiBody
from hwci.wire.json_values import SIGN, VALUES_MAX
from hwci.wire.lists import ListRule
from hwci.wire.reports import RunReport
from hwci.wire.runs import RunEvents
from tests.server.readers import Endless, Greedy, Hoarder, Reader
from tests.support.running import report

LIMIT = limits.RUN_REPORT_BYTES


def body(size: int) -> bytearray:
    start = json.dumps({"thread": 0, "process": 0, "extra": ""}).encode()
    return bytearray(start.replace(b'""', b'"' + b"x" * (size - len(start)) + b'"'))


Holding = Callable[[bytearray], BodyBuffer]


@pytest.fixture
async def holding() -> AsyncIterator[Holding]:
    """Return a buffer that holds a body, of one server whose process ends with the test."""
    bodies = LargeBodies()

    def hold(data: bytearray) -> BodyBuffer:
        bodies.read = None  # the request before has ended
        room = bodies.buffer()
        room.take(bytes(data))
        return room

    yield hold
    bodies.process.close()


@pytest.mark.parametrize(
    ("size", "thread", "process"),
    [
        (THREAD_BYTES, True, True),
        (THREAD_BYTES + 1, False, True),
        (APART_BYTES, False, True),
        (APART_BYTES + 1, False, False),
    ],
)
@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "gzip"])
async def test_a_body_that_takes_long_is_read_beside_the_event_loop(
    holding: Holding, size: int, *, thread: bool, process: bool, compressed: bool
) -> None:
    data = body(size)
    assert len(data) == size
    if compressed:
        data = bytearray(gzip.compress(data))

    found = await parse(holding(data), Reader, LIMIT, compressed=compressed)

    assert (found.thread == threading.get_ident(), found.process == os.getpid()) == (
        # Where a process is another one, its thread may have the same number.
        thread if process else found.thread == threading.get_ident(),
        process,
    )


def test_what_anybody_may_send_is_short() -> None:
    assert limits.BODY_BYTES <= THREAD_BYTES


def long(*parts: str) -> bytearray:
    """Return a body that is read apart."""
    return bytearray(", ".join((*parts, f'"x": "{"x" * APART_BYTES}"')).encode())


REFUSED: list[tuple[bytearray, bool, type[Exception], str]] = [
    (long('{"thread": "0"') + b"}", False, InvalidRequestError, "Validation failed"),
    (
        long("{") + b"," * VALUES_MAX,
        False,
        TooManyValuesError,
        f"The body holds more than {VALUES_MAX} values and names",
    ),
    (
        bytearray(gzip.compress(bytes(LIMIT + 1), 1)),
        True,
        TooLargeError,
        f"The body is larger than {LIMIT} bytes",
    ),
]


@pytest.mark.parametrize(("data", "compressed", "refused", "message"), REFUSED)
async def test_a_refusal_of_another_process_is_the_same_as_here(
    holding: Holding, data: bytearray, refused: type[Exception], message: str, *, compressed: bool
) -> None:
    with pytest.raises(refused) as fault:
        await parse(holding(data), Reader, LIMIT, compressed=compressed)

    assert (type(fault.value), str(fault.value)) == (refused, message)
    if isinstance(fault.value, InvalidRequestError):
        assert [list(issue.path) for issue in fault.value.issues] == [
            ["body", "thread"],
            ["body", "process"],
        ]


@pytest.mark.parametrize(
    ("end", "refused"),
    [
        ("memory", TooCostlyError),
        ("6", TooCostlyError),  # how the parser ends where there is no memory
        ("24", TooCostlyError),  # how the system ends who took too long
        ("9", OverloadedError),  # how the system ends anybody when memory is short
        ("15", None),  # which the service manager sends to all when the server stops
    ],
)
async def test_a_reader_may_be_ended_and_the_server_goes_on(
    holding: Holding,
    end: str,
    refused: type[Exception] | None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    data = long(f'{{"end": "{end}"') + b"}"
    if refused is None:
        assert (await parse(holding(data), Greedy, LIMIT, compressed=False)).end == end
        return
    with pytest.raises(refused):
        await parse(holding(data), Greedy, LIMIT, compressed=False)
    logged = "A body was not read: its process ended (-9)"
    assert (logged in caplog.text) is (refused is OverloadedError)
    assert await reader_of(holding) != os.getpid()


async def reader_of(holding: Holding) -> int:
    """Return the process that reads the next body."""
    data = long('{"thread": 0, "process": 0') + b"}"
    return (await parse(holding(data), Reader, LIMIT, compressed=False)).process


async def test_bodies_are_read_by_one_process_one_after_another(holding: Holding) -> None:
    assert len({await reader_of(holding) for _ in range(3)}) == 1


async def test_a_process_that_holds_much_after_a_body_is_replaced(holding: Holding) -> None:
    first = await reader_of(holding)
    data = long(f'{{"hoard": {KEPT_BYTES}, "process": 0') + b"}"

    assert (await parse(holding(data), Hoarder, LIMIT, compressed=False)).process == first
    assert await reader_of(holding) != first
    assert is_gone(first)


async def test_a_process_that_has_nothing_to_read_ends(
    holding: Holding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "IDLE_SECONDS", 0.0)
    first = await reader_of(holding)
    await asyncio.sleep(0.01)

    assert is_gone(first)
    assert await reader_of(holding) != first


def is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize("reads", [False, True], ids=["waits", "reads"])
def test_a_process_ends_with_a_server_that_is_killed(*, reads: bool) -> None:
    """It is another process's child then, which may not look for it: its pipe has ended."""
    code = (
        "import asyncio, os, signal, sys\n"
        "from hwci.server.http.bodies.apart import BodyProcess\n"
        "from tests.server.readers import Reader, Slow\n"
        "async def main():\n"
        '    process, text = BodyProcess(), b\'{"thread": 0, "process": 0}\'\n'
        "    await process.read([bytearray(text)], Reader, 100, compressed=False)\n"
        "    print(process._process.pid, flush=True)\n"
        "    if sys.argv[1:]:\n"
        "        asyncio.get_running_loop().call_later(0.5, os.kill, os.getpid(), signal.SIGKILL)\n"
        "        await process.read([bytearray(b'{}')], Slow, 100, compressed=False)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())"
    )

    ended = subprocess.run(
        [sys.executable, "-c", code, *(["reads"] if reads else [])],
        check=False,
        stdout=subprocess.PIPE,
    )

    assert ended.returncode == -signal.SIGKILL
    until = time.monotonic() + 60
    while not is_gone(int(ended.stdout)):
        assert time.monotonic() < until, "it outlives its server"
        time.sleep(0.01)


def test_the_time_that_a_body_may_take_is_its_own_and_its_end_is_not_that_of_a_killed_one() -> None:
    """The system counts the time of a process. Over the second of two limits, or of two that are
    equal, it sends SIGKILL.
    """
    code = (
        "import time\n"
        "from hwci.server.http.bodies import apart\n"
        "apart.CPU_SECONDS = 1\n"
        "for _ in range(10):\n"  # the system counts whole ticks, more of them where much else runs
        "    apart._limit_time()\n"
        "    end = time.process_time() + 0.25\n"
        "    while time.process_time() < end: pass\n"
        "print('ten', flush=True)\n"
        "while True: pass"
    )

    ended = subprocess.run([sys.executable, "-c", code], check=False, stdout=subprocess.PIPE)

    assert (ended.stdout, ended.returncode) == (b"ten\n", -signal.SIGXCPU)


async def test_a_reader_is_gone_with_its_request(holding: Holding, tmp_path: Path) -> None:
    file = tmp_path / "reader"
    data = long(f'{{"file": "{file}"') + b"}"
    parsing = asyncio.create_task(parse(holding(data), Endless, LIMIT, compressed=False))
    while not (file.exists() and file.read_text().endswith("\n")):
        await asyncio.sleep(0.01)
        assert not parsing.done()
    parsing.cancel()
    await asyncio.wait([parsing])

    assert parsing.cancelled()
    assert is_gone(int(file.read_text()))
    assert await reader_of(holding) != os.getpid()


@pytest.mark.parametrize("python", ["/nowhere/python", "false"])
async def test_without_a_process_to_read_it_a_body_comes_again(
    holding: Holding, monkeypatch: pytest.MonkeyPatch, python: str
) -> None:
    """There is none, or it ends before it has taken the body."""
    monkeypatch.setattr(sys, "executable", python)

    with pytest.raises(OverloadedError):
        await parse(holding(long("{") + b"}"), Reader, LIMIT, compressed=False)


def faults_of(plain: bytes, model: type[CiBody | Body]) -> list[list[str | int]]:
    with pytest.raises(InvalidRequestError) as fault:
        read_model(plain, model)
    return [list(issue.path) for issue in fault.value.issues]


def test_a_list_is_looked_at_no_further_than_its_faults_are_listed() -> None:
    seen = []

    class Item(CiBody):
        number: int

        @field_validator("number", mode="before")
        @classmethod
        def _seen(cls, value: object) -> object:
            seen.append(value)
            return value

    class Items(CiBody):
        items: Annotated[Sequence[Item], ListRule(1_000_000)]

    plain = json.dumps({"items": [{"number": "?"}] * 100_000}).encode()

    assert faults_of(plain, Items) == [["body", "items", place, "number"] for place in range(100)]
    assert len(seen) == limits.ISSUES_MAX


def test_half_a_million_faults_are_answered_with_the_first_hundred() -> None:
    commits = [{"sha": f"{n:07x}", "subject": "", "files": [""] * 2_000} for n in range(250)]
    changes = {"base_sha": None, "commits": commits}
    plain = json.dumps(report(changes=changes)).encode()

    assert faults_of(plain, RunReport) == [
        ["body", "changes", "commits", 0, "files", place] for place in range(100)
    ]


def test_a_hundred_of_half_a_million_unknown_names_are_listed() -> None:
    strangers = ", ".join(f'"{number:x}": 1' for number in range(100_000))
    plain = f'{{"events": [{{"type": "?", {strangers}}}], {strangers}}}'.encode()

    paths = faults_of(plain, RunEvents)

    assert len(paths) == limits.ISSUES_MAX
    assert ["body", "events", 0, "type"] in paths


def test_an_unknown_name_is_cut_in_its_error() -> None:
    assert faults_of(f'{{"events": [], "{"x" * 9_999}": 1}}'.encode(), RunEvents) == [
        ["body", "x" * limits.NAME_MAX]
    ]


def test_names_that_stand_twice_are_counted_up_to_a_hundred() -> None:
    plain = b'{"x": [' + b'{"a": 1, "a": 1}, ' * 100_000 + b"and so on"  # which is not reached

    assert faults_of(plain, Reader) == [["body", "x", place, "a"] for place in range(100)]


UNCLOSED = b'{"a": 1, "a": 1, "'


@pytest.mark.parametrize("rest", [rb"\"", rb"\\\"", rb" \"", b'\\"\n', rb"\":"])
@pytest.mark.parametrize("end", [b"", b"\\"])
def test_text_that_does_not_end_is_looked_at_once(rest: bytes, end: bytes) -> None:
    """A quote that no step takes is one from which the rest was looked at for nothing."""
    plain = UNCLOSED + rest * 50 + end

    assert [b'"' in steps.sub(b"", plain) for steps in (SIGN, _STEP)] == [False, False]
    assert faults_of(plain, Reader) == [["body", "a"]]


@pytest.mark.parametrize("deep", [b'{"a": ', b'[{"a": 1, "a": '])
def test_a_name_twice_before_more_depth_than_is_read(deep: bytes) -> None:
    found = faults_of(b'{"a": 1, "a": ' + deep * 100_000, Reader)

    assert found[0] == ["body", "a"]
    assert max(map(len, found)) < 500


@pytest.mark.parametrize("item", ["1,", '"",', "{},", "[],", '{"":1},'])
def test_values_are_counted_before_they_are_read(item: str) -> None:
    plain = f"[{item * (VALUES_MAX // item.count(','))}".encode()  # which does not end

    with pytest.raises(TooManyValuesError):
        read_model(plain + b"," * (VALUES_MAX - plain.count(b",") + 1), Reader)


def test_names_count_as_values_do() -> None:
    with pytest.raises(TooManyValuesError):
        read_model(b'{"":' + b'"":1,' * (VALUES_MAX // 2) + b'"":1}', Reader)


def test_what_separates_values_may_stand_in_text() -> None:
    text = r",:[{\"\\" * VALUES_MAX

    read = read_model(f'{{"thread": 0, "process": 0, "extra": "{text}"}}'.encode(), Reader)

    assert read.thread == threading.get_ident()


async def test_while_a_large_report_is_read_the_event_loop_goes_on(holding: Holding) -> None:
    """How soon it does is measured in tests/attack; here, that it does at all."""
    turns = 0

    async def tick() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    ticking = asyncio.create_task(tick())
    await parse(holding(body(4 * APART_BYTES)), Reader, LIMIT, compressed=False)
    ticking.cancel()

    assert turns > 100


@pytest.mark.parametrize(
    ("plain", "path", "message"),
    [
        (b'{"a":1,"b":{"c":2,"c":3}}', ["body", "b", "c"], "Should be given once"),
        (b'{"b":[{"c":[0,{"d":1,"d":2}]}]}', ["body", "b", 0, "c", 1, "d"], "Should be given once"),
        (b'{"a":1,"a":2,"\\x":3}', ["body"], "Invalid JSON"),
    ],
)
def test_a_name_given_twice_is_named_at_its_place(
    plain: bytes, path: list[str | int], message: str
) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        read_model(plain, Reader)

    assert [(issue.path, issue.message) for issue in caught.value.issues] == [(path, message)]


COMMIT = {"sha": "b" * 40, "subject": "s", "files": ["a.c"], "files_truncated": False}
WHOLE = report(
    changes={"base_sha": None, "commits": [COMMIT]}, part_of={"run_id": 1, "part": 1, "parts": 1}
)
"""A report in which each kind of object has a field that nothing else has."""


@pytest.mark.parametrize("spaces", ["", " ", "\n\t\r "])
@pytest.mark.parametrize("name", ["hello_ok", "outcome", "base_sha", "files_truncated", "parts"])
def test_a_name_given_twice_is_found_in_each_object_of_a_report(name: str, spaces: str) -> None:
    """Also where other names have spaces behind them, or text looks like a name: such a report is
    known to have no name twice by how many names it has.
    """
    text = json.dumps({**WHOLE, "conclusion": 'looks like a name":'})
    twice = text.replace(f'"{name}":', f'"{name}"{spaces}: 1, "{name}"{spaces}:')
    read_model(text.encode(), RunReport)
    with pytest.raises(InvalidRequestError) as caught:
        read_model(twice.encode(), RunReport)

    assert [issue.path[-1] for issue in caught.value.issues] == [name]


@pytest.mark.parametrize("where", ["more", "tests", "changes", "commits", "part_of"])
def test_a_number_that_is_not_finite_is_found_in_a_field_that_is_ignored(where: str) -> None:
    sent = json.loads(json.dumps(WHOLE))
    holders = {
        "more": sent,
        "tests": sent["tests"][0],
        "changes": sent["changes"],
        "commits": sent["changes"]["commits"][0],
        "part_of": sent["part_of"],
    }
    holders[where]["ignored"] = [12345678]
    text = json.dumps(sent)
    read_model(text.encode(), RunReport)
    with pytest.raises(InvalidRequestError) as caught:
        read_model(text.replace("12345678", "1e999").encode(), RunReport)

    assert "not finite" in caught.value.issues[0].message


@pytest.mark.parametrize("harm", [lambda whole: whole + b"x", lambda whole: whole[:-1]])
def test_a_body_is_one_whole_gzip_member(harm: Callable[[bytes], bytes]) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        inflate(harm(gzip.compress(b"{}")), 2)

    assert [issue.message for issue in caught.value.issues] == [
        "The body should be one whole gzip member, with nothing after it"
    ]


@pytest.mark.parametrize("data", [b"{}", gzip.compress(b"{}")[:4] + b"\xff" * 20])
def test_a_body_that_is_not_gzip_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        inflate(data, 2)

    assert [issue.message for issue in caught.value.issues] == ["The body is not in gzip format"]


async def test_the_size_that_gzip_writes_is_read_across_two_pieces(holding: Holding) -> None:
    buffer = holding(bytearray(PIECE_BYTES - 2) + b"\x87\xd6")
    buffer.take(b"\x12\x00")

    assert len(buffer.pieces) == 2
    assert plain_size(buffer, compressed=True) == 1234567


def test_a_body_is_not_inflated_beyond_its_limit() -> None:
    bomb = gzip.compress(bytes(16 * 1024 * 1024))
    tracemalloc.start()
    try:
        with pytest.raises(TooLargeError, match="than 1000 bytes"):
            inflate(bomb, 1_000)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert most < 1024 * 1024
