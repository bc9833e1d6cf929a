# SPDX-License-Identifier: Apache-2.0
"""This module decides what is kept of the events that arrived (semantics §1, §10).

It fills in defaults, lowers commit hashes, reads times, and knows the three identities. It decides
no label and no number.
"""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

Json = dict[str, Any]
Event = tuple[str, Json]
# (repo_key, suite, test id, box_key, branch, sha)
FailureKey = tuple[str, str, str, str, str, str]

TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:([Zz])|([+-])(\d\d):?(\d\d))"
)


@dataclass(frozen=True)
class Announcement:
    repo: str
    suite: str | None
    sha: str
    branch: str
    merged: datetime
    ci_url: str | None = None


@dataclass(frozen=True)
class Commit:
    """A commit as a report lists it; `cut` when its list of files is not whole."""

    sha: str
    subject: str
    files: tuple[str, ...]
    cut: bool


@dataclass(frozen=True)
class Changes:
    base: str | None
    commits: tuple[Commit, ...]
    truncated: bool


@dataclass(frozen=True)
class Item:
    test: str
    failed: bool
    attempts: int
    verdict: str


# The order of reports: started_at, then run_id, run_attempt and box_key.
Order = tuple[datetime, int, int, str]


@dataclass(frozen=True)
class Report:
    repo: str
    workflow: str
    suite: str
    run_id: int
    attempt: int
    branch: str
    sha: str
    started: datetime
    hello_ok: bool
    box: str
    items: tuple[Item, ...]
    covers: tuple[str, ...]
    changes: Changes | None
    part_of: tuple[int, int, int] | None  # run_id, part, parts
    ci_run: int | None

    @property
    def order(self) -> Order:
        return (self.started, self.run_id, self.attempt, self.box)

    @property
    def shown_run_id(self) -> int:
        return self.run_id if self.part_of is None else self.part_of[0]

    @property
    def is_later_part(self) -> bool:
        return self.part_of is not None and self.part_of[1] > 1


@dataclass(frozen=True)
class Review:
    """`written` counts the reviews of the organization, so that the last one can be told."""

    action: str
    by: Json
    at: str
    written: int


@dataclass
class Facts:
    """All that one organization's CI and its reviewers have said that still counts."""

    announcements: dict[tuple[str, str | None, str], Announcement] = field(default_factory=dict)
    reports: dict[tuple[str, int, int, str], Report] = field(default_factory=dict)
    configs: dict[tuple[str, str], Json] = field(default_factory=dict)
    reviews: dict[FailureKey, Review] = field(default_factory=dict)
    reviews_written: int = 0

    def announce(self, body: Json) -> None:
        """Of two announcements with one identity the first to arrive stays (§1.5)."""
        suite, sha = body.get("suite"), body["sha"].lower()
        merged = instant(body["merged_at"])
        said = Announcement(
            body["repo_key"], suite, sha, body["branch"], merged, body.get("ci_url")
        )
        self.announcements.setdefault((said.repo, suite, sha), said)

    def report(self, body: Json) -> None:
        """Of two run reports with one identity the last to arrive stays, whole (§1.5)."""
        new = read_report(body)
        self.reports[(new.repo, new.run_id, new.attempt, new.box)] = new
        if new.part_of is not None and new.part_of[1] == 1:
            self._remove_parts_beyond(new.part_of[2], new)

    def _remove_parts_beyond(self, parts: int, first: Report) -> None:
        """Part 1 of a report sent again with fewer parts removes the parts beyond (§1.9)."""
        for identity, other in list(self.reports.items()):
            same_run = (other.repo, other.shown_run_id, other.attempt, other.box) == (
                first.repo,
                first.shown_run_id,
                first.attempt,
                first.box,
            )
            if same_run and other.part_of is not None and other.part_of[1] > parts:
                del self.reports[identity]

    def config(self, body: Json) -> None:
        """Of two configurations of one product the last to arrive counts (§1.5)."""
        self.configs[(body["repo_key"], body["suite"])] = body


def read_report(body: Json) -> Report:
    part = body.get("part_of")
    changes = body.get("changes")
    return Report(
        repo=body["repo_key"],
        workflow=body["workflow"],
        suite=body["workflow"] if body.get("suite") is None else body["suite"],
        run_id=body["run_id"],
        attempt=body["run_attempt"],
        branch=body["branch"],
        sha=body["sha"].lower(),
        started=instant(body["started_at"]),
        hello_ok=body["hello_ok"],
        box=body["box_key"],
        items=tuple(read_item(item) for item in body["tests"]),
        covers=tuple(sha.lower() for sha in body.get("covers_shas") or []),
        changes=None if changes is None else read_changes(changes),
        part_of=None if part is None else (part["run_id"], part["part"], part["parts"]),
        ci_run=body.get("ci_run"),
    )


def read_item(item: Json) -> Item:
    verdict = item.get("verdict") or "unknown"
    return Item(item["id"], item["outcome"] == "fail", item["attempts"], verdict)


def read_changes(changes: Json) -> Changes:
    base = changes["base_sha"]
    return Changes(
        base=None if base is None else base.lower(),
        commits=tuple(
            Commit(
                commit["sha"].lower(),
                commit["subject"],
                tuple(commit["files"]),
                bool(commit.get("files_truncated")),
            )
            for commit in changes["commits"]
        ),
        truncated=bool(changes.get("truncated")),
    )


def instant(text: str) -> datetime:
    """Times are kept to the microsecond, further digits are cut, in UTC (§10)."""
    found = TIME.fullmatch(text)
    if found is None:
        raise ValueError(f"not a time with an offset: {text}")
    year, month, day, hour, minute = (int(part) for part in found.groups()[:5])
    micro = int(((found[7] or "") + "000000")[:6])
    local = datetime(year, month, day, hour, minute, int(found[6] or 0), micro, tzinfo=UTC)
    if found[8]:
        return local
    offset = timedelta(hours=int(found[10]), minutes=int(found[11]))
    return local - offset if found[9] == "+" else local + offset


def written(moment: datetime) -> str:
    """A time as the API writes it: UTC, with its offset."""
    return moment.isoformat()
