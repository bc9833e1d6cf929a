# SPDX-License-Identifier: Apache-2.0
"""Why a resolved failure is not a firmware bug, and which commit broke the test (§5 to §7).

It looks at changed files, at the changes that reports carry and at the ways they connect. It knows
no review and no period.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tests.reference.facts import Changes, Commit, Facts, Json, Order, Report
from tests.reference.lanes import Group
from tests.reference.paths import matches_list

REAL = "real_fw_bug"
BENCH = "bench_or_harness"
AMBIGUOUS = "ambiguous"

# The spec's table "Reason shown | Class", by the codes of the wire.
REASONS: dict[str | None, tuple[str, str | None]] = {
    None: (REAL, None),
    "verdict_infra": (BENCH, "Harness verdict: bench or infrastructure"),
    "verdict_missing": (AMBIGUOUS, "No harness verdict was reported"),
    "paths_not_configured": (
        AMBIGUOUS,
        "No firmware and harness paths are configured for this product",
    ),
    "changes_unknown": (AMBIGUOUS, "The changes under test are unknown"),
    "changes_incomplete": (AMBIGUOUS, "The files changed under test were not fully reported"),
    "changes_not_firmware": (BENCH, "Commit under test did not touch firmware"),
    "fix_unconnected": (AMBIGUOUS, "The changes before the fix are not fully recorded"),
    "fix_touched_harness": (BENCH, "Fix touched harness paths"),
    "fix_not_firmware": (BENCH, "Fix did not touch firmware"),
    "fix_mixed": (AMBIGUOUS, "Fix changed firmware and harness in the same commit"),
    "fix_incomplete": (AMBIGUOUS, "The files changed before the fix were not fully reported"),
    "dismissed": ("dismissed", "Dismissed by an admin"),
}


@dataclass(frozen=True)
class Step:
    """A run's changes lead from a listed commit back to their `base_sha`, over `commits`."""

    placed: Order
    base: str
    commits: tuple[Commit, ...]


@dataclass(frozen=True)
class Walk:
    """The way from the fix back to the last failing commit, and the commits of the range."""

    steps: tuple[Step, ...]
    cut: bool
    commits: tuple[Commit, ...]
    rivals: int  # other walks of as many steps


def carries(report: Report) -> bool:
    """Changes whose `base_sha` is the report's own `sha` count as not carried (§5.1)."""
    return report.changes is not None and report.changes.base != report.sha


def run_of(report: Report) -> tuple[str, str, str, str, int]:
    return (report.repo, report.workflow, report.branch, report.sha, report.run_id)


def changes_of_run(facts: Facts, run: tuple[str, str, str, str, int]) -> Report | None:
    """The earliest report of a run that carries `changes` (§5.1)."""
    carrying = [one for one in facts.reports.values() if run_of(one) == run and carries(one)]
    return min(carrying, key=lambda report: report.order, default=None)


def changes_under_test(facts: Facts, first_failing: Report) -> Changes | None:
    """The changes of the first run on the failing commit, whatever its box and hello (§5.2)."""
    on_commit = [
        report
        for report in facts.reports.values()
        if run_of(report)[:4] == run_of(first_failing)[:4]
    ]
    first = min(on_commit, key=lambda report: report.order)
    source = changes_of_run(facts, run_of(first))
    if source is None or source.changes is None or source.changes.base is None:
        return None
    return source.changes


def steps_from(facts: Facts, repo: str, sha: str) -> list[Step]:
    """Every step back from a commit, by all runs of the repository (§6.2)."""
    steps = []
    for run in {run_of(report) for report in facts.reports.values() if report.repo == repo}:
        source = changes_of_run(facts, run)
        if source is None or source.changes is None:
            continue
        base, commits = source.changes.base, source.changes.commits
        listed = [index for index, commit in enumerate(commits) if commit.sha == sha]
        if base is not None and not source.changes.truncated and listed:
            steps.append(Step(source.order, base, commits[: listed[-1] + 1]))
    return steps


def shortest(
    facts: Facts, repo: str, fix: str, arrives: Callable[[Step], bool]
) -> list[tuple[Step, ...]]:
    """The fewest steps; of equally many those that come first, compared from the fix backwards."""
    seen = {fix}
    ways: dict[str, tuple[Step, ...]] = {fix: ()}
    while ways:
        longer = [
            (*way, step) for sha, way in ways.items() for step in steps_from(facts, repo, sha)
        ]
        longer.sort(key=lambda way: [step.placed for step in way])
        arrived = [way for way in longer if arrives(way[-1])]
        if arrived:
            return arrived
        ways = {}
        for way in longer:
            if way[-1].base not in seen:
                ways.setdefault(way[-1].base, way)
        seen |= set(ways)
    return []


def walk_back(facts: Facts, repo: str, last_failing: str, fix: str) -> Walk | None:
    """An exact walk before any cut one; only the last step may be cut (§6.2)."""
    exact = shortest(facts, repo, fix, lambda step: step.base == last_failing)
    if exact:
        whole = tuple(one for step in exact[0] for one in step.commits)
        return Walk(exact[0], False, whole, len(exact) - 1)
    cut = shortest(
        facts, repo, fix, lambda step: last_failing in [commit.sha for commit in step.commits]
    )
    if not cut:
        return None
    best = cut[0]
    listed = [commit.sha for commit in best[-1].commits]
    after_last = len(listed) - listed[::-1].index(last_failing)
    whole = tuple(one for step in best[:-1] for one in step.commits)
    return Walk(best, True, whole + best[-1].commits[after_last:], len(cut) - 1)


def kinds(config: Json, commit: Commit) -> set[str]:
    """A file that matches both lists is of both kinds (§6.5)."""
    found = set()
    for path in commit.files:
        if matches_list(config["firmware_paths"], path):
            found.add("firmware")
        if matches_list(config["harness_paths"], path):
            found.add("harness")
    return found


def reason_of(facts: Facts, group: Group) -> str | None:
    """The first check that fails gives the reason; None is a real firmware bug (§6.3, §6.4)."""
    report, item = group.first_hit
    if item.verdict == "infra":
        return "verdict_infra"
    if item.verdict == "unknown":
        return "verdict_missing"
    config = facts.configs.get(group.lane[:2])
    if config is None:
        return "paths_not_configured"
    changes = changes_under_test(facts, report)
    if changes is None:
        return "changes_unknown"
    if not any("firmware" in kinds(config, commit) for commit in changes.commits):
        cut = changes.truncated or any(commit.cut for commit in changes.commits)
        return "changes_incomplete" if cut else "changes_not_firmware"
    if group.fix is None:
        return "fix_unconnected"
    walk = walk_back(facts, group.lane[0], group.failures[-1].sha, group.fix)
    return "fix_unconnected" if walk is None else reason_of_fix(config, walk)


def reason_of_fix(config: Json, walk: Walk) -> str | None:
    """Over the range, in this order (§6.3)."""
    looked_at = [(kinds(config, commit), commit.cut) for commit in walk.commits]
    some_cut = any(cut for _, cut in looked_at)
    if any(found == {"harness"} and not cut for found, cut in looked_at):
        return "fix_touched_harness"
    if not any("firmware" in found for found, _ in looked_at):
        return "fix_incomplete" if some_cut else "fix_not_firmware"
    if any(found == {"firmware", "harness"} for found, _ in looked_at):
        return "fix_mixed"
    return "fix_incomplete" if some_cut else None


def broken_by(facts: Facts, group: Group) -> Json | None:
    """The firmware commits under test after the last passed commit before the group (§7)."""
    config = facts.configs.get(group.lane[:2])
    changes = changes_under_test(facts, group.first_hit[0])
    if config is None or changes is None:
        return None
    commits = changes.commits
    listed = [index for index, one in enumerate(commits) if one.sha == group.passed_before]
    after = commits[listed[-1] + 1 :] if listed else commits
    firmware = [commit for commit in after if "firmware" in kinds(config, commit)]
    if not firmware:
        return None
    return {
        "from": firmware[0].sha,
        "to": firmware[-1].sha,
        "commits": [{"sha": commit.sha, "subject": commit.subject} for commit in firmware],
    }
