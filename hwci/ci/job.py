# SPDX-License-Identifier: Apache-2.0
"""What a job knows of itself: each field of a report, its value, and who told it (contract,
"Command line").

This module decides who is believed first: flag, `HWCI_*`, `hwci.toml`, the CI system, git,
default. What each CI system says stands in `hwci.ci.systems`; nothing is sent from here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hwci.ci.fields import BY_NAME, FIELDS
from hwci.ci.git.revisions import HINTS, full_hash, in_full
from hwci.ci.run_ids import product_run_id
from hwci.ci.sourced import Sourced
from hwci.ci.systems import detected
from hwci.ci.systems.system import (
    DEFAULT,
    JobEnvironment,
    System,
    UnreadableError,
    commit,
    is_one_of,
    slug,
)
from hwci.engine.vocabulary import Trigger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from hwci.ci.git.checkout import Checkout
    from hwci.ci.project import Project

NO_SYSTEM = "no CI system that is known"
CLOCK = "the clock"
GIT = "git"
PROJECT_FILE = "hwci.toml"
BOX_FILE = "box.json"
USUAL_MERGE_BRANCHES = ("main", "master")
"""Where nobody says which branch is merged into."""

OF_THE_PUSH = frozenset({"merged_at", "before_sha", "pushed_shas", "queued", "batched"})

_Fields = dict[str, Sourced[Any]]


@dataclass(frozen=True, slots=True)
class Job:
    """A job of a CI system, or of nobody's: a person at a desk.

    `fields`: by the spec's names (`repo_key`, `workflow`, `suite`, `run_id`, `run_attempt`,
    `trigger`, `branch`, `sha`, `started_at`, `conclusion`, `box_key`, `merged_at` …); what nobody
    told is not among them.
    """

    system: str | None
    """`github`, `gitlab`, `jenkins`, `buildkite`, `circleci`, `azure`; None: no CI that we know."""

    title: str
    """Its name among people."""

    fields: Mapping[str, Sourced[Any]]

    merge_branches: Sourced[tuple[str, ...]]
    """The branches on which a push is a merge; by default, where nobody says which these are."""

    before_sha: Sourced[str] | None = None
    """Where the branch stood before the push that started this; never a hash of zeros."""

    previous_sha: Sourced[str] | None = None
    """The commit of the run before this one of the same job and branch, as the CI itself says,
    however that run ended."""

    succeeded_sha: Sourced[str] | None = None
    """The commit of the last such run that succeeded."""

    pushed_shas: tuple[str, ...] = ()
    """Commits of the push, where the CI lists them: some may be missing."""

    queued: bool = False
    """The merge is only tried in a queue: nothing is merged yet."""

    batched: bool = False
    """Several pushes are built at once."""

    faults: tuple[str, ...] = ()
    """What was said in a way that cannot be understood, in words for people."""

    unreadable: tuple[str, ...] = ()
    """What the CI left to be read and cannot be: all else holds without it."""

    unknown_commits: tuple[str, ...] = ()
    """What was said of earlier commits that are not here: all else holds without it."""

    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The environment, for those who ask the CI's own API: it holds secrets, and is not shown."""

    def value(self, name: str) -> Any:  # noqa: ANN401 - the fields have the types of the spec
        """Give the value of a field, None when nobody told it."""
        told = self.fields.get(name)
        return None if told is None else told.value

    def product(self) -> Sourced[str] | None:
        """Give the product of this job and who told it: where nobody does, it is the workflow
        (spec, "Run report"), by the server's own rule.
        """
        workflow = self.fields.get("workflow")
        if "suite" in self.fields or workflow is None:
            return self.fields.get("suite")
        return Sourced(workflow.value, f"{DEFAULT}: the workflow")

    def is_of_a_merge_branch(self) -> bool:
        """Tell whether a push to the branch of this job is a merge; so it is on one that nobody
        names.
        """
        branch = self.value("branch")
        return branch is None or is_one_of(branch, self.merge_branches.value)

    def dated(self, at: datetime) -> Job:
        """Name a run that no CI counts by its time: in seconds since 1970. So the same run
        reported again, with the same start, replaces the first report.
        """
        told = self.fields.get("run_id")
        if self.system is not None or (told is not None and told.source != CLOCK):
            return self
        run_id: Sourced[Any] = Sourced(max(0, int(at.timestamp())), CLOCK)
        return replace(self, fields=_in_order({**self.fields, "run_id": run_id}))


def find_job(
    flags: Mapping[str, object],
    environ: Mapping[str, str],
    checkout: Checkout | None,
    project: Project | None,
    installed_as: str | None = None,
) -> Job:
    """Find out what this job is. `flags`: what the command line says, by the names of the fields;
    None where it says nothing. `installed_as`: the box that this machine is.
    """
    system = detected(environ)
    variables, faults = _variables(environ)
    flagged: _Fields = {
        name: Sourced(value, BY_NAME[name].flag)
        for name, value in flags.items()
        if value is not None
    }
    told, nowhere = in_full({**variables, **flagged}, checkout)
    told = {**_of_project(project, told), **told}
    event, unread = _event(system, environ)
    seen = JobEnvironment(environ, event, frozenset(told))
    merge_branches = _merge_branches(system, seen, told, checkout)
    seen = replace(seen, merge_branches=merge_branches.value)
    if system is not None:
        told = {**_of_product(_of_system(system, seen, told, checkout), told, project), **told}
    told = {**_defaults(system, installed_as), **_of_git(checkout, told), **told}
    return Job(
        system=system.name if system else None,
        title=system.title if system else NO_SYSTEM,
        fields=_in_order(told),
        before_sha=_commit(told.get("before_sha")),
        previous_sha=system.read("previous_sha", seen) if system else None,
        succeeded_sha=system.read("succeeded_sha", seen) if system else None,
        pushed_shas=told["pushed_shas"].value if "pushed_shas" in told else (),
        merge_branches=merge_branches,
        queued="queued" in told,
        batched="batched" in told,
        faults=(
            *_not_mended(faults, told),
            *(text for name, text in nowhere.items() if name not in HINTS),
        ),
        unreadable=unread,
        unknown_commits=tuple(text for name, text in nowhere.items() if name in HINTS),
        environ=environ,
    )


def _event(
    system: System | None, environ: Mapping[str, str]
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Give what the system left in a file, and why that cannot be read."""
    try:
        return (system.event(environ) if system else {}), ()
    except UnreadableError as fault:
        return {}, (str(fault),)


@dataclass(frozen=True, slots=True)
class Doubt:
    """What is most likely not meant, and what to do about it."""

    what: str
    fix: str


def doubted_product(job: Job, project: Project | None) -> Doubt | None:
    """Say of a job that its product is none of those of the project file: nobody told which of
    several it is of, or it has a name that is not among them. It is reported as it stands.
    """
    suites = sorted({product.suite for product in project.products}) if project else []
    said = job.fields.get("suite")
    name = said.value if said else job.value("workflow")
    if not suites or name is None or name in suites:
        return None
    known = ", ".join(suites)
    if said is None:
        what = (
            f"{PROJECT_FILE} has {len(suites)} products ({known}), and nobody says which one this "
            f"is of: a run counts as one of product {name}, the workflow"
        )
        return Doubt(what, "Name it: --suite (HWCI_SUITE)")
    what = f"{said.source} says product {name}, which {PROJECT_FILE} does not have; it has {known}"
    return Doubt(what, f"Correct {said.source}, or add a [[product]]")


def _in_order(told: _Fields) -> _Fields:
    """Give the fields in the order of the spec, without what only leads to some."""
    return {name: told[name] for name in BY_NAME if name in told}


def _variables(environ: Mapping[str, str]) -> tuple[_Fields, dict[str, str]]:
    """Read what `HWCI_*` says, and say by field what cannot be understood."""
    seen = JobEnvironment(environ)
    told: _Fields = {}
    faults: dict[str, str] = {}
    for one in FIELDS:
        text = seen.text(one.variable)
        if not text:
            continue
        try:
            value = one.read(text)
        except ValueError as fault:
            faults[one.name] = f"{one.variable} is {text!r}: {fault}"
            continue
        if value is not None:
            told[one.name] = Sourced(value, one.variable)
    return told, faults


def _not_mended(faults: Mapping[str, str], told: _Fields) -> tuple[str, ...]:
    """Leave out what a flag says better, and what the system understands: CircleCI's own words."""
    mended = {
        name
        for name in faults
        if name in told and told[name].source in {BY_NAME[name].flag, BY_NAME[name].variable}
    }
    return tuple(text for name, text in faults.items() if name not in mended)


def _of_project(project: Project | None, told: _Fields) -> _Fields:
    """Give what the project says of its product: of the one that is told, or the only one. Tables
    of one name are of one product, as far as they agree.
    """
    if project is None:
        return {}
    suite = told.get("suite")
    products = [item for item in project.products if suite is None or item.suite == suite.value]
    suites = {item.suite for item in products}
    said: Mapping[str, set[str] | set[str | None]] = {
        "repo_key": {item.repo_key or project.repo_key for item in products} or {project.repo_key},
        "suite": suites,
        "box_key": {item.box for item in products} if len(suites) == 1 else set(),
    }
    agreed = {name: values.pop() for name, values in said.items() if len(values) == 1}
    return {name: Sourced(value, PROJECT_FILE) for name, value in agreed.items() if value}


def _merge_branches(
    system: System | None, seen: JobEnvironment, told: _Fields, checkout: Checkout | None
) -> Sourced[tuple[str, ...]]:
    """Give the branches that are merged into: as told, else the default branch."""
    if "merge_branches" in told:
        said = told["merge_branches"]
        return Sourced(tuple(said.value), said.source)
    if default := system.read("default_branch", seen) if system else None:
        return Sourced((default.value,), default.source)
    name = checkout.default_branch() if checkout else None
    return Sourced((name,), GIT) if name else Sourced(USUAL_MERGE_BRANCHES, DEFAULT)


def _of_system(
    system: System, seen: JobEnvironment, told: _Fields, checkout: Checkout | None
) -> _Fields:
    """Read all fields; what the system says of its push holds of its own commit only."""
    read = {name: system.read(name, seen) for name in system.readers}
    found = {name: said for name, said in read.items() if said is not None}
    if "sha" in found and (sha := full_hash(found["sha"].value, checkout)):
        found["sha"] = Sourced(sha, found["sha"].source)  # a build may be started with a short one
    if "sha" in told and ("sha" not in found or found["sha"].value != told["sha"].value):
        found = {name: said for name, said in found.items() if name not in OF_THE_PUSH}
    return found


def _of_product(found: _Fields, told: _Fields, project: Project | None) -> _Fields:
    """Keep apart what the system calls one run: where a repository has several products, two that
    are tested on one box would replace each other's reports. The same in each attempt.
    """
    run_id, suite = found.get("run_id"), told.get("suite")
    several = project is not None and len({item.suite for item in project.products}) > 1
    if not several or run_id is None or suite is None:
        return found
    own = Sourced(product_run_id(run_id.value, suite.value), f"{run_id.source} and the product")
    return {**found, "run_id": own}


def _of_git(checkout: Checkout | None, told: _Fields) -> _Fields:
    """Ask git for what nobody told."""
    if checkout is None:
        return {}

    def time_of_merge() -> datetime | None:
        sha = told["sha"].value if "sha" in told else checkout.head()
        return checkout.committed_at(sha) if sha else None

    asked: Mapping[str, Callable[[], object]] = {
        "repo_key": lambda: slug(checkout.remote_url() or ""),
        "sha": checkout.head,
        "branch": checkout.branch,
        "merged_at": time_of_merge,
    }
    found = {name: ask() for name, ask in asked.items() if name not in told}
    return {name: Sourced(value, GIT) for name, value in found.items() if value}


def _defaults(system: System | None, installed_as: str | None) -> _Fields:
    usual: dict[str, object] = {"run_attempt": 1, "trigger": Trigger.MANUAL}
    if system is None:
        usual["workflow"] = "local"
    box = {"box_key": Sourced(installed_as, BOX_FILE)} if installed_as else {}
    return {name: Sourced(value, DEFAULT) for name, value in usual.items()} | box


def _commit(told: Sourced[Any] | None) -> Sourced[str] | None:
    """A hash of zeros stands for no commit, whoever says it."""
    sha = commit(told.value) if told else None
    return Sourced(sha, told.source) if told and sha else None
