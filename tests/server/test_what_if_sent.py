# SPDX-License-Identifier: Apache-2.0
"""Every edit that the API names for a failure, made as a person would make it from that answer
alone, and sent, gives the class that was said; and no single edit that gives another is left out.

Each history has repositories of its own, so one server holds all of them.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, NamedTuple

from hwci.contract.runs.commits import ChangeList, Commit
from hwci.contract.vocabulary import EditKind, Verdict
from hwci.engine.facts import FailureKey, Lane, Product, Report, SuiteConfig
from hwci.engine.facts import failure_id as id_of
from hwci.server.services.transfer.sent import body_of
from hwci.wire.base import parse_time
from tests.analysis.drawn import drawn
from tests.server.tenants import tell
from tests.support.asking import ask, bearer, ci_key
from tests.support.running import RunningServer
from tests.support.soak import rounds

DAYS = "days=365&asOf=2026-06-01T00:00:00Z&limit=100"
OF_EACH_KIND = (0, 1, 4, 7, 12, 14, 27)
"""Histories in which each kind of edit is named."""
OF_A_HISTORY = rounds(1, 6)
"""So many failures are asked of one history, at most."""
FAILURES = rounds(len(OF_EACH_KIND), 500)
OWN_FILES = {"firmware": ("src/own.c", "fw/own.c"), "harness": ("ci/own.py", "hil/own.py")}
"""Names that the patterns of the drawn configurations match."""

Json = dict[str, Any]


class Otherwise(NamedTuple):
    """What is sent otherwise: reports again, a configuration, or a review."""

    reports: Sequence[Report] = ()
    config: SuiteConfig | None = None
    review: str | None = None


@dataclass(frozen=True)
class Story:
    """A history that CI sent to a server. `token`: of its own, as one ends while many are told."""

    server: RunningServer
    token: str
    reports: Sequence[Report]
    configs: dict[Product, SuiteConfig]
    elsewhere: dict[str, tuple["Story", str]] = field(default_factory=dict)

    def of_repository(self, repo_key: str) -> list[Report]:
        return [one for one in self.reports if one.repo_key == repo_key]

    def put(self, otherwise: Otherwise) -> None:
        """Send reports and a configuration, whichever are given."""
        configs = () if otherwise.config is None else (otherwise.config,)
        sent = (("POST", "run-report", otherwise.reports), ("PUT", "suite-config", configs))
        kind = ("Content-Type", "application/json")
        for method, route, facts in sent:
            for one in facts:
                where, key = f"/api/ci/{route}", ci_key(self.server.ci_key)
                reply = ask(self.server.url, method, where, key, kind, data=body_of(one)[1])
                assert reply.status == 204, reply.body

    def get(self, path: str) -> Any:
        path = f"/api/orgs/{self.server.org_id}/{path}"
        return tell(self.server.url, "GET", path, bearer(self.token))

    def review(self, failure_id: str, action: str) -> None:
        path = f"/api/orgs/{self.server.org_id}/ci-failures/{failure_id}/{action}"
        tell(self.server.url, "POST", path, bearer(self.token))

    def send_all(self) -> None:
        self.put(Otherwise(self.reports))
        for config in self.configs.values():
            self.put(Otherwise(config=config))

    def resolved(self) -> list[Json]:
        """Return the resolved failures, as people see them."""
        rows = []
        for repo_key in sorted({one.repo_key for one in self.reports}):
            rows += self.get(f"ci-failures?{DAYS}&repoKey={repo_key}&label=resolved")["items"]
        by = ("firstStartedAt", "repoKey", "suite", "testId", "boxKey", "branch")
        rows.sort(key=lambda row: [row[name] for name in by])
        groups = list(dict.fromkeys(one["groupId"] for one in rows))
        return [self.row(one) for one in groups[:OF_A_HISTORY]]

    def row(self, failure_id: str) -> Json:
        found: Json = self.get(f"ci-failures/{failure_id}")["resolved"]
        return found

    def without_configuration(self, row: Json) -> tuple["Story", str]:
        """Send the history of a failure to another repository, where it gets configurations: they
        can be replaced, and not taken back. Return it, and the id of the failure there.
        """
        if row["id"] not in self.elsewhere:
            repo_key = f"{row['repoKey']}-of-{row['id']}"
            reports = self.of_repository(row["repoKey"])
            reports = [replace(one, repo_key=repo_key) for one in reports]
            there = Story(self.server, self.token, reports, {})
            there.send_all()
            names = (row[name] for name in ("suite", "testId", "boxKey", "branch"))
            key = FailureKey(Lane(repo_key, *names), row["firstFailure"]["sha"])
            failure_id = str(id_of(self.server.org_id, key))
            if row["review"] is not None:
                there.reviewed(there.row(failure_id), row["review"]["action"])
            self.elsewhere[row["id"]] = there, failure_id
        return self.elsewhere[row["id"]]

    def reviewed(self, row: Json, action: str) -> None:
        """Review a failure. What is no real bug is confirmed before it is dismissed."""
        if action == "dismiss" and row["class"] != "real_fw_bug":
            self.review(row["id"], "confirm")
        self.review(row["id"], action)


def story(server: RunningServer, seed: int) -> Story:
    """Send a drawn history; some failures are reviewed."""
    facts = drawn(seed)
    reports = [
        replace(one, repo_key=f"{one.repo_key}-{seed}", part_of=None) for one in facts.reports
    ]
    configs = [replace(one, repo_key=f"{one.repo_key}-{seed}") for one in facts.configs.values()]
    owner = {"email": server.email, "password": server.password}
    token = tell(server.url, "POST", "/api/auth/login", body=owner)["accessToken"]
    found = Story(
        server, token, reports, {Product(one.repo_key, one.suite): one for one in configs}
    )
    found.send_all()
    if seed % 4 == 0:
        for row, action in zip(found.resolved(), ("dismiss", "confirm"), strict=False):
            if action == "dismiss" or row["class"] != "real_fw_bug":
                found.reviewed(row, action)
    return found


def test_named_edits_give_the_class_that_was_said_when_they_are_sent(
    server: RunningServer,
) -> None:
    seen: Counter[str] = Counter()
    draw = random.Random(1)
    for past, row in failures(server):
        answer = past.get(f"ci-analysis/failures/{row['id']}")
        assert answer["complete"]
        for edit in answer["edits"]:
            then = outcome(past, row, asked(past, row, edit))
            assert (then["class"], then["reason"]) == (edit["class"], edit["reason"]), edit
            seen[edit["kind"]] += 1
        named = {name_of(edit) for edit in answer["edits"]}
        others = [one for one in singles(past, row) if one[0] not in named]
        for name, otherwise in rounds(draw.sample(others, min(2, len(others))), others):
            then = outcome(past, row, otherwise)
            assert then["class"] == row["class"], (row, name)
        same = ("class", "reason", "automatic", "fix")
        assert [past.row(row["id"])[name] for name in same] == [row[name] for name in same]

    assert seen.keys() == set(EditKind)


def failures(server: RunningServer) -> Iterator[tuple[Story, Json]]:
    """Send histories, and yield resolved failures of each."""
    left = FAILURES
    for seed in rounds(OF_EACH_KIND, count()):
        past = story(server, seed)
        for row in past.resolved()[:left]:
            yield past, row
            left -= 1
        if left == 0:
            return


def outcome(past: Story, row: Json, otherwise: Otherwise) -> Json:
    """Send something otherwise, read the failure, and send it as it was."""
    failure_id, review = row["id"], row["review"]
    if otherwise.review is not None:
        past.review(failure_id, otherwise.review)
        then = past.row(failure_id)
        past.review(failure_id, "reset" if review is None else review["action"])
        return then
    product = Product(row["repoKey"], row["suite"])
    before = past.configs.get(product)
    if otherwise.config is not None and before is None:
        past, failure_id = past.without_configuration(row)
        config = replace(otherwise.config, repo_key=past.reports[0].repo_key)
        otherwise = Otherwise(config=config)
    past.put(otherwise)
    then = past.row(failure_id)
    again = {identity(one) for one in otherwise.reports}
    as_it_was = [one for one in past.reports if identity(one) in again]
    past.put(Otherwise(as_it_was, None if otherwise.config is None else before))
    return then


def identity(report: Report) -> tuple[object, ...]:
    return report.repo_key, report.run_id, report.run_attempt, report.box_key


def asked(past: Story, row: Json, edit: Json) -> Otherwise:
    """Return what a person sends who read this edit."""
    reports = past.of_repository(row["repoKey"])
    match edit["kind"]:
        case "review":
            return Otherwise(review=edit["action"])
        case "verdict":
            return Otherwise(blaming(reports, row, edit["verdict"]))
        case "patternAdded" | "patternRemoved":
            return Otherwise(config=configured(past, row, edit))
        case "filesWhole":
            return Otherwise(with_whole_files(reports, edit["commit"]))
    at = (parse_time(edit["run"]["startedAt"]), *(edit["run"][name] for name in RUN))
    (run,) = (one for one in reports if run_of(one) == at)
    if edit["kind"] == "commitsWhole":
        return Otherwise([with_all_commits(run)])
    listed = () if run.changes is None else run.changes.commits
    if edit["assumed"] is not None:
        listed = (Commit(edit["sha"], files=OWN_FILES[edit["assumed"]]),)
    assert [one.sha for one in listed] == edit["commits"]
    return Otherwise([replace(run, changes=ChangeList(edit["base"], listed))])


RUN = ("runId", "runAttempt", "boxKey")


def run_of(report: Report) -> tuple[object, ...]:
    return report.started_at, report.run_id, report.run_attempt, report.box_key


def blaming(reports: Sequence[Report], row: Json, verdict: str) -> list[Report]:
    first = row["firstFailure"]
    at = parse_time(first["startedAt"]), first["runId"], first["runAttempt"], row["boxKey"]
    (run,) = (one for one in reports if run_of(one) == at)
    tests = (
        replace(one, verdict=Verdict(verdict)) if one.id == row["testId"] else one
        for one in run.tests
    )
    return [replace(run, tests=tuple(tests))]


def with_whole_files(reports: Sequence[Report], sha: str) -> list[Report]:
    """The reports that list a commit, as if no file of it was left out."""
    found = []
    for one in reports:
        if one.changes is not None and any(of.sha == sha for of in one.changes.commits):
            commits = (
                replace(of, files_truncated=of.files_truncated and of.sha != sha)
                for of in one.changes.commits
            )
            found.append(replace(one, changes=replace(one.changes, commits=tuple(commits))))
    return found


def with_all_commits(report: Report) -> Report:
    assert report.changes is not None
    return replace(report, changes=replace(report.changes, truncated=False))


def configured(past: Story, row: Json, edit: Json) -> SuiteConfig:
    """The configuration with a pattern more, the last of those without or with `!`, or less."""
    product = Product(row["repoKey"], row["suite"])
    config = past.configs.get(product) or SuiteConfig(*product, (), ())
    name = f"{edit['paths']}_paths"
    patterns = [one for one in getattr(config, name) if one != edit["pattern"]]
    if edit["kind"] == "patternAdded":
        patterns.append(edit["pattern"])
        patterns.sort(key=lambda one: one.startswith("!"))
    lists: Json = {name: tuple(patterns)}
    return replace(config, **lists)


def name_of(edit: Json) -> tuple[object, ...]:
    """What tells an edit of those that `singles` makes from others."""
    run = edit.get("run")
    at = None if run is None else (parse_time(run["startedAt"]), *(run[name] for name in RUN))
    what = ("kind", "verdict", "paths", "pattern", "commit", "action")
    return *(edit.get(name) for name in what), at


def singles(past: Story, row: Json) -> Iterator[tuple[tuple[object, ...], Otherwise]]:
    """Yield what could have been sent otherwise in the failure's repository, whether or not a check
    looks at it. What a run changed that did not send it is anybody's guess, and not among them.
    """
    reports = past.of_repository(row["repoKey"])
    for verdict in {"device", "infra"} - {row["verdict"]}:
        yield (
            name_of({"kind": "verdict", "verdict": verdict}),
            Otherwise(blaming(reports, row, verdict)),
        )
    lists = [(one, one.changes) for one in reports if one.changes is not None]
    commits = [of for _, changes in lists for of in changes.commits]
    for sha in sorted({of.sha for of in commits if of.files_truncated}):
        edit = {"kind": "filesWhole", "commit": sha}
        yield name_of(edit), Otherwise(with_whole_files(reports, sha))
    for one, changes in lists:
        if changes.truncated:
            name = *name_of({"kind": "commitsWhole"})[:-1], run_of(one)
            yield name, Otherwise([with_all_commits(one)])
    config = past.configs.get(Product(row["repoKey"], row["suite"]))
    files = (
        {file for of in commits for file in of.files}
        if config
        else {"**", *changed_files(past, row)}
    )
    for paths in ("firmware", "harness"):
        patterns = () if config is None else getattr(config, f"{paths}_paths")
        tried = {("patternRemoved", one) for one in patterns}
        tried |= {("patternAdded", one) for one in patterns_for(files) if one not in patterns}
        for kind, pattern in sorted(tried):
            if patterns or not pattern.startswith("!"):
                edit = {"kind": kind, "paths": paths, "pattern": pattern}
                yield name_of(edit), Otherwise(config=configured(past, row, edit))


def changed_files(past: Story, row: Json) -> set[str]:
    """Return those that a failure rests on: whatever the pattern, it is a first configuration."""
    found = past.get(f"ci-failures/{row['id']}")
    commits = [*(found["underTest"] or ()), *(found["beforeFix"] or ())]
    return {file["path"] for one in commits for file in one["files"]}


def patterns_for(files: set[str]) -> Iterator[str]:
    for file in files:
        folder = file.rpartition("/")[0]
        for name in [file, f"{folder}/**"] if folder else [file]:
            yield from (name, f"!{name}")
