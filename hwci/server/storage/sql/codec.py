# SPDX-License-Identifier: Apache-2.0
"""How columns hold values: times as integers, lists and sets packed and compressed.

This module decides encodings only, each with its inverse beside it. Byte order is fixed, so a
database file can move between machines.
"""

import json
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import jiter

from hwci.contract.runs.commits import ChangeList, Commit
from hwci.contract.runs.merges import Merge
from hwci.contract.runs.products import Links, Targets
from hwci.contract.vocabulary import REASONS, FailureClass, Outcome, Verdict
from hwci.engine.facts import Report, SuiteConfig, TestItem
from hwci.engine.history import Decision, Place

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_DECODER = json.JSONDecoder()
_MILLIS = b"m"  # what zlib writes begins with another letter
_MILLIS_MAX = 2**32 / 1000  # seconds
_FAST = 1  # zlib level: names and hashes repeat, so a higher one only takes time
_SHORT = 64 * 1024  # bytes that are read at once: in a quarter of a millisecond
_LOOK_AHEAD = 262  # zlib finds what repeats in its window less so many bytes
_SHARED = 4096
"""Times and ids that are kept for reuse: a page is opened again, and reads 1,500 of a year's."""

OUTCOMES = (Outcome.PASS, Outcome.FAIL)
OUTCOME_NUMBERS = {outcome: number for number, outcome in enumerate(OUTCOMES)}
VERDICTS = (Verdict.UNKNOWN, Verdict.DEVICE, Verdict.INFRA)
VERDICT_NUMBERS = {verdict: number for number, verdict in enumerate(VERDICTS)}
DECISIONS = {
    FailureClass.REAL_FW_BUG.value: Decision(FailureClass.REAL_FW_BUG, None),
    **{reason.value: Decision(row.failure_class, reason) for reason, row in REASONS.items()},
}


class ItemResult(NamedTuple):
    """The result of a test item."""

    outcome: Outcome
    attempts: int
    verdict: Verdict
    message: str | None = None


_PLAIN = ItemResult(Outcome.PASS, 1, Verdict.UNKNOWN)
"""The result of most items: such an item has no row, as the report's test list holds it."""

Sums = Sequence[int]
"""Of the items of a test that are no pass at the first attempt: how many, their attempts, how many
failed, and how many are flakes.
"""


class Stamp(NamedTuple):
    """A place as its columns. Stamps compare as places do."""

    started_at: int
    way: int
    position: int
    sha: str


def to_micros(time: datetime) -> int:
    """Return exact microseconds since 1970 (negative before)."""
    return (time - _EPOCH) // _MICROSECOND


@lru_cache(maxsize=_SHARED)
def from_micros(micros: int) -> datetime:
    """Return the time back, aware and in UTC."""
    return _EPOCH + timedelta(microseconds=micros)


def to_micros_or_none(time: datetime | None) -> int | None:
    """Return microseconds of an optional time."""
    return None if time is None else to_micros(time)


def from_micros_or_none(micros: int | None) -> datetime | None:
    """Return an optional time back."""
    return None if micros is None else from_micros(micros)


@lru_cache(maxsize=_SHARED)
def uuid_of(raw: bytes) -> UUID:
    """Return an id back from its sixteen bytes."""
    return UUID(bytes=raw)


def to_stamp(place: Place) -> Stamp:
    """Return a place as columns."""
    return Stamp(to_micros(place.started_at), place.way, place.position, place.sha)


def to_place(at: int, way: int, position: int, sha: str) -> Place:
    """Return a place back from its columns."""
    return Place(from_micros(at), way, position, sha)


def _compressed(raw: bytes | bytearray) -> bytes:
    """Compress with a window no larger than the value: to make the largest one takes longer than to
    compress a short value.
    """
    window = min(zlib.MAX_WBITS, (len(raw) + _LOOK_AHEAD).bit_length())
    return zlib.compress(raw, _FAST, window)


def pack_numbers(numbers: Sequence[int]) -> bytes:
    """Pack test numbers in order."""
    return _compressed(struct.pack(f"<{len(numbers)}I", *numbers))


def unpack_numbers(packed: bytes) -> tuple[int, ...]:
    """Return test numbers back in order."""
    raw = zlib.decompress(packed)
    return struct.unpack(f"<{len(raw) // 4}I", raw)


def pack_durations(durations: Sequence[float]) -> bytes:
    """Pack seconds so that they come back exact: as milliseconds, if they are whole ones, which
    take less than half the room of doubles.
    """
    doubles = _doubles(durations)
    if max(durations, default=0.0) < _MILLIS_MAX:
        millis = [round(seconds * 1000) for seconds in durations]
        if _doubles([number / 1000 for number in millis]) == doubles:
            whole = struct.pack(f"<{len(millis)}I", *millis)
            # The low bytes of all, then the next: the high ones are nearly all zero.
            return _MILLIS + _compressed(b"".join(whole[at::4] for at in range(4)))
    return _compressed(doubles)


def unpack_durations(packed: bytes) -> tuple[float, ...]:
    """Return seconds back in order."""
    if not packed.startswith(_MILLIS):
        raw = zlib.decompress(packed)
        return struct.unpack(f"<{len(raw) // 8}d", raw)
    raw = zlib.decompress(packed[len(_MILLIS) :])
    count = len(raw) // 4
    whole = bytearray(len(raw))
    for at in range(4):
        whole[at::4] = raw[at * count : (at + 1) * count]
    return tuple(millis / 1000 for millis in struct.unpack(f"<{count}I", whole))


def duration_at(packed: bytes, place: int) -> float:
    """Return one of the seconds: of a thousand tests it takes a tenth of the time of all."""
    if not packed.startswith(_MILLIS):
        return float(struct.unpack_from("<d", zlib.decompress(packed), 8 * place)[0])
    raw = zlib.decompress(packed[len(_MILLIS) :])
    return int.from_bytes(raw[place :: len(raw) // 4], "little") / 1000


def _doubles(durations: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(durations)}d", *durations)


def pack_texts(texts: Sequence[str | None]) -> bytes | None:
    """Pack a text for each item, most of which repeat; None if there is none at all."""
    if not any(texts):
        return None
    return _compressed(_COMPACT.encode(texts).encode())


def unpack_texts(packed: bytes | None, count: int) -> Sequence[str | None]:
    """Return the texts of so many items back."""
    if packed is None:
        return [None] * count
    texts: Sequence[str | None] = jiter.from_json(zlib.decompress(packed))
    return texts


def pack_item(item: TestItem) -> tuple[int, int, int, str | None] | None:
    """Return outcome, attempts, verdict and message as columns; None for an item without a row."""
    if (item.outcome, item.attempts, item.verdict, item.message) == _PLAIN:
        return None
    outcome, verdict = OUTCOME_NUMBERS[item.outcome], VERDICT_NUMBERS[item.verdict]
    return outcome, item.attempts, verdict, item.message


def unpack_item(columns: Sequence[Any] | None) -> ItemResult:
    """Return the result of an item from its row; None: it has no row."""
    if columns is None:
        return _PLAIN
    outcome, attempts, verdict, message = columns
    return ItemResult(OUTCOMES[outcome], attempts, VERDICTS[verdict], message)


def pack_results(sums: Mapping[int, Sums]) -> str:
    """Write the sums of a day by test: a list of the tests, and one of each sum."""
    tests = sorted(sums)
    return _COMPACT.encode([tests, *zip(*map(sums.__getitem__, tests), strict=True)])


def unpack_results(text: str) -> Sequence[Sequence[int]]:
    """Return the lists back: the tests, then each sum of all of them."""
    lists: Sequence[Sequence[int]] = jiter.from_json(text.encode())
    return lists


class _Listed(tuple[Any, ...]):
    """A list that a query reads with `json_each`; the driver decides its form there."""

    __slots__ = ()

    def __conform__(self, _: object) -> str:
        """Return it as SQLite takes it."""
        return json.dumps(self)


class Numbers(_Listed):
    """A list of whole numbers in a query."""

    __slots__ = ()

    def __conform__(self, _: object) -> str:
        """Return it as SQLite takes it, in less time than any numbers take."""
        return f"[{','.join(map(str, self))}]"


class Texts(_Listed):
    """A list of texts in a query."""

    __slots__ = ()


def numbers(values: Iterable[int]) -> Numbers:
    """Return numbers as the list that a query reads with `json_each`."""
    return Numbers(values)


def texts(values: Iterable[str]) -> Texts:
    """Return texts as the list that a query reads with `json_each`."""
    return Texts(values)


def decision_text(decision: Decision) -> str:
    """Return a decision as its column: the reason, or the class of a real bug, which has none."""
    return decision.reason or decision.failure_class


def to_decision(text: str) -> Decision | None:
    """Return a decision back; None if it is in words of another version."""
    return DECISIONS.get(text)


def pack_mask(mask: int) -> bytes | None:
    """Pack a set of numbers; the empty set is NULL."""
    if not mask:
        return None
    return _compressed(mask.to_bytes((mask.bit_length() + 7) // 8, "little"))


def unpack_mask(packed: bytes | None) -> int:
    """Return a set of numbers back."""
    return 0 if packed is None else int.from_bytes(zlib.decompress(packed), "little")


def pack_shas(shas: Sequence[str]) -> bytes | None:
    """Pack commits in order; no commits are NULL."""
    return _compressed(" ".join(shas).encode()) if shas else None


def unpack_shas(packed: bytes | None) -> tuple[str, ...]:
    """Return commits back in order."""
    return () if packed is None else tuple(zlib.decompress(packed).decode().split(" "))


def compact_json(value: object) -> str:
    """Write a value as JSON without spaces."""
    return _COMPACT.encode(value)


def commits_json(commits: Sequence[Commit]) -> bytearray:
    """Write commits as bytes that are equal exactly when the commits are. One at a time: while half
    a million paths are written or copied together, no other thread runs.
    """
    written = bytearray(b"[")
    for c in commits:
        if len(written) > 1:
            written += b","
        at = to_micros_or_none(c.committed_at)
        row = (c.sha, c.subject, at, c.files, c.files_truncated)
        written += compact_json(row).encode()
    written += b"]"
    return written


def pack_commits(raw: bytearray) -> bytes:
    """Compress what `commits_json` wrote."""
    return _compressed(raw)


def unpack_changes(base_sha: str | None, truncated: int, body: bytes) -> ChangeList:
    """Return changes back from their columns."""
    commits = tuple(
        Commit(sha, subject, from_micros_or_none(at), tuple(files), files_truncated)
        for sha, subject, at, files, files_truncated in _commits_in(zlib.decompress(body))
    )
    return ChangeList(base_sha, commits, bool(truncated))


def _commits_in(raw: bytes) -> Iterator[Any]:
    """Read what `commits_json` wrote, one commit at a time, too, unless it is short."""
    if len(raw) < _SHORT:
        yield from jiter.from_json(raw)
        return
    text, at = raw.decode(), 1
    while text[at] != "]":
        commit, end = _DECODER.raw_decode(text, at)
        yield commit
        at = end + (text[end] == ",")


def pack_fact(fact: Report | Merge | SuiteConfig) -> bytes:
    """Pack what was sent as JSON with the names of its fields: it is for people and programs that
    look back, and no rule reads it.
    """
    text = json.dumps(fact, ensure_ascii=False, separators=(",", ":"), default=_plain)
    return _compressed(text.encode())


def _plain(value: "datetime | DataclassInstance") -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return {field.name: getattr(value, field.name) for field in fields(value)}


def config_json(config: SuiteConfig) -> str:
    """Write a configuration's lists and switch."""
    return json.dumps(
        {
            "firmware_paths": config.firmware_paths,
            "harness_paths": config.harness_paths,
            "merge_trigger": config.merge_trigger,
            "trigger_paths": config.trigger_paths,
            **({} if config.links is None else {"links": asdict(config.links)}),
            **({} if config.targets is None else {"targets": asdict(config.targets)}),
        },
        ensure_ascii=False,
    )


def config_of(repo_key: str, suite: str, body: str) -> SuiteConfig:
    """Return a configuration back."""
    fields = json.loads(body)
    triggers = fields["trigger_paths"]
    return SuiteConfig(
        repo_key=repo_key,
        suite=suite,
        firmware_paths=tuple(fields["firmware_paths"]),
        harness_paths=tuple(fields["harness_paths"]),
        merge_trigger=fields["merge_trigger"],
        trigger_paths=None if triggers is None else tuple(triggers),
        links=Links(**fields["links"]) if "links" in fields else None,
        targets=Targets(**fields["targets"]) if "targets" in fields else None,
    )
