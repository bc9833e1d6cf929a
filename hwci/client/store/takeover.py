# SPDX-License-Identifier: Apache-2.0
"""What versions before this one kept in folders, and one that runs beside this may still write: a
file for each report, with folders for those that were set aside, and files of what was reported
last. The store takes it in whenever it is opened to be changed, and removes it then.

A file that cannot be opened or that a newer hwci wrote stays where it is, and so does a report that
an older process is sending, as its mark shows. A damaged file goes to `refused`. What a killed
process left unfinished is removed.
"""

import gzip
import hashlib
import json
import re
import shutil
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hwci.client import _call
from hwci.client.files import UNFINISHED, locked, remove_unfinished
from hwci.client.store import memory, pending
from hwci.client.store.memory import PastRuns, ReportedRun, RunFacts
from hwci.client.store.pending import PendingReport, State, identity_of
from hwci.wire.endpoints.ci import REPORT_RUN
from hwci.wire.reports import RunReport

FORMAT = 1
_FOLDERS: Mapping[str, State] = {".": "waiting", "refused": "refused", "superseded": "superseded"}
_REPORT = re.compile(r"([0-9]{20})-([0-9a-f]{40}|[0-9a-f]{32})\.(report|json)")
_DAMAGED = ".damaged"
_UNREADABLE = (ValueError, KeyError, TypeError, EOFError, OverflowError, zlib.error)
"""What a damaged file raises. One that cannot even be opened (`OSError`) may be whole."""


class NewerFormatError(Exception):
    """A file was written by a newer hwci, and is left to that."""

    def __init__(self, found: object) -> None:
        super().__init__(
            f"a newer hwci wrote it (format {found}; this one knows {FORMAT}), and can send it"
        )


@dataclass(slots=True)
class Taken:
    """The files and folders that are in the store now, and files that are damaged."""

    done: list[Path] = field(default_factory=list)
    damaged: list[Path] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class OlderFolders:
    """Where older versions keep reports, and what they remember; `state` None: nowhere."""

    spools: Sequence[Path]
    state: Path | None

    def hold_any(self) -> bool:
        """Return whether there is anything to take in or to remove."""
        kept = (path for spool in self.spools for name in _FOLDERS for path in _in(spool / name))
        return any(_REPORT.fullmatch(path.name) or _is_unfinished(path) for path in kept) or any(
            _in(self.state / name) for name in ("marks", "lanes", "reported") if self.state
        )

    def reports(self) -> Iterator[PendingReport]:
        """Read the reports that are not in the store yet, and all that stays outside of it."""
        for spool in self.spools:
            for state, path in _reports_in(spool):
                with suppress(FileNotFoundError):  # sent meanwhile
                    yield _seen(path, state)
            for path in _in(spool / "refused"):
                if not _REPORT.fullmatch(path.name) and not _is_unfinished(path):
                    yield _seen(path, "refused")

    @contextmanager
    def locked(self, own: Path) -> Iterator[None]:
        """Keep older processes from changes; the lock of the folder `own` is held already."""
        locks = [spool / ".lock" for spool in self.spools if spool != own and _in(spool)]
        if self.state is not None:
            names = ("marks", "reported", "lanes")
            locks += [self.state / f"{name}.lock" for name in names if _in(self.state / name)]
        with ExitStack() as held:
            for lock in locks:
                with suppress(OSError):  # then nothing there can be changed
                    held.enter_context(locked(lock, wait=True))
            yield

    def take(self, db: sqlite3.Connection) -> Taken:
        """Put all into the store, the oldest report first."""
        taken = Taken()
        if self.state is not None:  # first, as the runs are in their order there
            _take_lanes(db, self.state / "lanes", taken)
            _take_reported(db, self.state / "reported", taken)
        busy = self._take_marks(taken)
        for spool in self.spools:
            for name in _FOLDERS:
                with suppress(OSError):
                    remove_unfinished(spool / name)
            for report in _readable_in(spool, taken):
                if report.identity not in busy:
                    _take_report(db, report)
                    taken.done.append(report.file)
        return taken

    def clear(self, taken: Taken) -> list[Path]:
        """Remove what is in the store now, and put aside what is damaged. Return where that is."""
        aside = []
        for path in taken.done:
            with suppress(OSError):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path in taken.damaged:
            spool = path.parent if path.suffix == ".report" else path.parent.parent
            with suppress(OSError):
                (spool / "refused").mkdir(mode=0o700, exist_ok=True)
                aside.append(path.rename(spool / "refused" / f"{path.stem}{_DAMAGED}"))
        return aside

    def with_runs_of(self, known: PastRuns) -> PastRuns:
        """Add to the runs of a series what is not in the store yet; that is older."""
        if known.series is None or self.state is None:
            return known
        runs, changes = _lane(self.state / "lanes" / known.series.digest)
        ids = {run[:2] for run in known.runs}
        older = tuple(run for run in runs if run[:2] not in ids)
        return replace(known, runs=(*older, *known.runs), changes={**changes, **known.changes})

    def _take_marks(self, taken: Taken) -> set[str]:
        """Return the identities at which an older process is working. The marks of killed ones are
        not needed: the bench counts from a report that waits.
        """
        busy: set[str] = set()
        for path in _in(self.state / "marks") if self.state else ():
            with suppress(OSError), locked(path, wait=False) as left:
                if left:
                    taken.done.append(path)
                else:
                    busy |= set(_marked(path))
        return busy


def _in(folder: Path) -> list[Path]:
    """List a folder; nothing if it is missing or cannot be read."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _is_unfinished(path: Path) -> bool:
    return path.name.startswith(UNFINISHED)


def _reports_in(spool: Path) -> list[tuple[State, Path]]:
    found = [
        (state, path)
        for name, state in _FOLDERS.items()
        for path in _in(spool / name)
        if _REPORT.fullmatch(path.name) and (name != "." or path.suffix == ".report")
    ]
    return sorted(found, key=lambda one: one[1].name)


def _readable_in(spool: Path, taken: Taken) -> Iterator[PendingReport]:
    for state, path in _reports_in(spool):
        try:
            yield _read(path, state)
        except _UNREADABLE:
            taken.damaged.append(path)
        except (OSError, NewerFormatError):
            continue


def _seen(path: Path, state: State) -> PendingReport:
    """Read a report, or why it cannot be read."""
    changed = path.lstat().st_mtime
    aside: State = "unreadable" if state == "waiting" else state
    newer = False
    try:
        return _read(path, state)
    except FileNotFoundError:
        raise
    except OSError as fault:
        reason = f"the file cannot be opened: {fault.strerror or fault}"
    except NewerFormatError as fault:
        newer, reason = True, str(fault)
    except _UNREADABLE:
        reason = "the file is damaged"
        aside = "damaged" if path.suffix == _DAMAGED else aside
    return PendingReport(
        path.name, created=changed, state=aside, reason=reason, newer=newer, file=path
    )


def _read(path: Path, state: State) -> PendingReport:
    """Read a file: a line of JSON and then the compressed body, or one JSON document."""
    content = path.read_bytes()
    if path.suffix == ".json":
        head = json.loads(content)
        body = json.dumps(head["body"]).encode()
    elif path.suffix == ".report":
        line, _, packed = content.partition(b"\n")
        head = json.loads(line)
        if head["format"] > FORMAT:
            raise NewerFormatError(head["format"])
        body = gzip.decompress(packed)
    else:
        raise ValueError  # no report
    call = _call.call_of(pending.ENDPOINTS[str(head["target"])], body=body)
    report = PendingReport.of_body(str(head["name"]), call, json.loads(body))
    known: dict[str, Any] = {name: head[name] for name in ("address", "fingerprint", "created")}
    known |= {name: head[name] for name in ("tries", "reason", "not_before") if name in head}
    return replace(
        report,
        **known,
        number=int(path.name[:20]),
        state=state,
        overtaken=tuple(head.get("overtaken", ())),
        facts=_facts(body),
        file=path,
    )


def _facts(body: bytes) -> RunFacts | None:
    try:
        return memory.facts_of(RunReport.model_validate_json(body))
    except ValidationError:  # an announcement, or of a later hwci
        return None


def _marked(path: Path) -> Iterator[str]:
    """Return the identities that a mark names; none if it cannot be read."""
    names = ("repo_key", "run_id", "run_attempt", "box_key")
    with suppress(OSError, *_UNREADABLE):
        for words in json.loads(path.read_bytes()):
            yield identity_of(REPORT_RUN.path, dict(zip(names, words, strict=True)))


def _lane(folder: Path) -> tuple[list[ReportedRun], dict[tuple[int, str], str]]:
    """Read the runs of a series, oldest first, and their changes; broken lines are skipped."""
    runs: list[ReportedRun] = []
    changes: dict[tuple[int, str], str] = {}
    with suppress(OSError, *_UNREADABLE):
        runs = [
            ReportedRun(int(run["run_id"]), str(run["sha"]), bool(run["hello_ok"]))
            for run in json.loads((folder / "runs.json").read_bytes())["runs"]
        ]
    for path in _in(folder):
        with suppress(OSError, *_UNREADABLE):
            if not path.name.startswith("changes-"):
                continue
            kept = json.loads(path.read_bytes())
            changes[int(path.stem[8:]), str(kept["sha"])] = json.dumps(kept["changes"])
    return runs, changes


def _take_lanes(db: sqlite3.Connection, lanes: Path, taken: Taken) -> None:
    """Take in what was tested, series by series, the last written at the end."""
    for folder in sorted(_in(lanes), key=lambda path: path.lstat().st_mtime_ns):
        runs, changes = _lane(folder)
        for run in runs:
            known = changes.get((run.run_id, run.sha))
            facts = RunFacts(folder.name, run.run_id, run.sha, run.hello_ok, known)
            memory.settle(db, memory.begin(db, facts), tested=run.hello_ok)
        taken.done.append(folder)


def _take_reported(db: sqlite3.Connection, reported: Path, taken: Taken) -> None:
    """Take in which tests were reported under which identity, which had another form."""
    for path in _in(reported):
        with suppress(OSError, *_UNREADABLE):
            tests, _, product = path.read_bytes().decode().partition(" ")
            if not _is_unfinished(path):
                number = path.stat().st_mtime_ns // 1_000
                memory.know(db, path.name, number, tests, product)
            taken.done.append(path)


def _take_report(db: sqlite3.Connection, report: PendingReport) -> None:
    known = pending.rows(db, "number = ?", report.number)
    if not known:
        pending.put(db, report)
    elif known[0]["identity"] != report.identity:
        pending.put(db, replace(report, number=pending.next_number(db, report.created)))
    for row in pending.rows(db, "identity = ? AND state = 'waiting'", report.identity):
        pending.overtake(db, PendingReport.of_row(row, report.file))


def older_identity(report: RunReport) -> str:
    """Return the name under which older versions know a report."""
    words = (report.repo_key, report.run_id, report.run_attempt, report.box_key)
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()
