# SPDX-License-Identifier: Apache-2.0
"""What is said of a flaky test in a line: the terminal and the dashboard show the same."""

from collections.abc import Iterator

from hwci.analysis.benches import words
from hwci.analysis.certainty import SURE
from hwci.analysis.flaky.suspects import (
    STRONG,
    Intermittent,
    Since,
    Suspect,
    bisected,
)
from hwci.contract.flaky.suspects import Effort, Fixed
from hwci.contract.statements import Certainty
from hwci.contract.vocabulary import Claim, CommitKind
from hwci.said import counted, day, percent, short

LIKELY = 0.5
"""From this chance on a commit, or the time before the period, is named."""

WORTH_A_LOOK = 0.2
"""A commit that is less likely is no lead: only how many it may be is said."""

TOSS = 2
"""Where it was one of so many commits, and none alone is likely, all are named."""

TELLS = 2
"""Below so many times the odds that any commit has, what the commit changed is not said."""

WAITED_FOR = 1000
"""A larger number of clean runs is not shown: it is no help."""


def of_suspect(row: Suspect, claim: Claim) -> str:
    """Return in words what the runs of a test suggest, or what is missing for that. `claim`: its
    statement's, which alone says that it is fixed (semantics, 14.1).
    """
    if row.found is None:
        return f"not enough data: {row.missing}"
    tried = row.tried
    on_boxes = words.of_boxes(row.blame, tried.on_boxes, row.notes, tried.uncompared)
    return ", ".join([of_found(row.found, claim, on_boxes), *_to_do_words(row.found)])


def of_found(suggestion: Intermittent, claim: Claim, on_boxes: str = "") -> str:
    """Return in words since when a test is flaky, on which boxes, and what the commit changed."""
    return ", ".join(
        filter(None, [_since_words(suggestion, claim), on_boxes, _kind_words(suggestion.since)])
    )


def of_change(since: Since) -> str:
    """Return in a sentence what the commit changed; nothing if it likely was before the
    period.
    """
    kind = _kind_words(since)
    if kind.startswith(_KIND_WORDS[CommitKind.UNKNOWN]):
        return kind
    return f"the commit changed {kind}" if kind else ""


def _kind_words(since: Since) -> str:
    if since.before >= LIKELY:
        return ""
    kind, share = max(since.by_kind.items(), key=lambda kind: kind[1])
    usual = since.usual.get(kind, 0.0)
    if is_toss(since):
        kinds = {suspect.kind for suspect in since.suspects}
        return _KIND_WORDS[kinds.pop()] if len(kinds) == 1 else ""
    # A commit that is named has its chance beside it already.
    is_named = since.suspects[0].chance >= LIKELY
    if not is_named and share * (1 - usual) < TELLS * usual * (1 - share):
        return ""
    return f"{_KIND_WORDS[kind]}{'' if is_named or share >= STRONG else sure(share)}"


def _to_do_words(suggestion: Intermittent) -> Iterator[str]:
    takes = bisected(suggestion).bisection if suggestion.since.before < LIKELY else None
    if takes and takes.runs:
        yield _effort_words(takes)
    yield of_fixed(suggestion)


def of_fixed(suggestion: Intermittent) -> str:
    """Return in words how many runs passed at the first attempt since the last that did not, and
    how many still must: of a broken test none.
    """
    phrases = [*_fixed_words(suggestion.fixed, suggestion.clean_of_bench)]
    return ", ".join(phrases[:1] if suggestion.broken else phrases)


def _fixed_words(fixed: Fixed, of_bench: int) -> Iterator[str]:
    runs = "run" if fixed.clean_runs <= 1 else f"{fixed.clean_runs:,} runs"
    besides = f", not counting {of_bench:,} that the harness blames on the bench"
    ended = "passed" if fixed.clean_runs else "failed"
    yield f"its last {runs} {ended} at the first attempt{besides if of_bench else ''}"
    if fixed.needed is None or fixed.needed > WAITED_FOR:
        yield "it fails too rarely to tell soon whether it is fixed"
    elif fixed.needed:
        more = " more" if fixed.clean_runs else ""
        yield f"{fixed.needed:,}{more} must pass so before we may call it fixed{sure(SURE)}"


_KIND_WORDS = {
    CommitKind.FIRMWARE: "firmware only",
    CommitKind.HARNESS: "harness only",
    CommitKind.BOTH: "firmware and harness at once",
    CommitKind.OTHER: "neither firmware nor harness",
    CommitKind.UNKNOWN: "not known what changed",
}


def _since_words(suggestion: Intermittent, claim: Claim) -> str:
    flaky = "broken" if suggestion.broken else "flaky"
    if claim is Claim.FIXED:
        flaky = f"fixed{'' if suggestion.broken else sure(suggestion.fixed.chance)}, was {flaky}"
    return f"{flaky} {since_when(suggestion.since)}"


def since_when(since: Since) -> str:
    """Return in words since which commit, or that it was so before any that is known: the day is
    then where the runs begin and not where the failures do, so it has no chance beside it.
    """
    if since.before >= LIKELY:
        first = day(since.begins_at)
        began = f"as far back as runs go ({first})" if since.is_first else f"since before {first}"
        return began if since.before >= STRONG else f"likely {began}"
    if is_toss(since):
        sha, other = (short(suspect.sha) for suspect in since.suspects)
        return f"since one of {TOSS} commits: {sha} or {other}"
    best = since.suspects[0]
    if best.chance >= LIKELY:
        return f"since {short(best.sha)} of {day(best.seen_at)}{sure(best.chance)}"
    one_of = f"since one of {since.suspects_total} commits"
    if best.chance < WORTH_A_LOOK:
        return one_of
    return f"{one_of}, likeliest {short(best.sha)} ({percent(best.chance)})"


def certainty(since: Since, says: str) -> Certainty:
    """Return the likeliest commit with what is said of it."""
    likeliest = since.suspects[0]
    return Certainty(branch=since.branch, sha=likeliest.sha, chance=likeliest.chance, says=says)


def is_toss(since: Since) -> bool:
    """Whether it was one of two commits of the period, and neither is named alone."""
    if since.before >= LIKELY or since.suspects_total != TOSS:
        return False
    best, other = since.suspects
    return best.chance < LIKELY or best.chance == other.chance


def of_history(since: Since, test_id: str, left: int) -> str:
    """Return in words since when a test fails by its history. `left`: so many firmware commits may
    have broken it by the rules (semantics, 7), which look at its first failing run.
    """
    rest = f"y the history of {test_id}, {since_when(since)}"
    if left <= 1:
        return f"B{rest}"
    return f"Its first failing run leaves {counted(left, 'firmware commit')}; b{rest}"


def sure(chance: float) -> str:
    """Return in brackets how sure something is."""
    return f" ({percent(chance)} sure)"


def _effort_words(effort: Effort) -> str:
    runs = f"a bisection would take about {counted(effort.runs, 'run')}"
    if effort.boxes == 1:
        return runs
    return f"{runs} ({counted(effort.rounds, 'round')} on {effort.boxes} boxes at once)"
