# SPDX-License-Identifier: Apache-2.0
"""Find out what this job is, and which source wins for each field: flag, `HWCI_*`, `hwci.toml`, the
CI system, git, default (contract, "Command line").

`hwci.ci.systems` describes each CI system. A report holds full hashes (spec, "Run
report"), so names such as `main` or `HEAD~1` are looked up in git here.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hwci.ci.checked_out import Checkout, Tested, as_tested, chosen_elsewhere, of_tests
from hwci.ci.fields import BY_NAME, FIELDS, in_order
from hwci.ci.git.repository import Repository
from hwci.ci.job import DEFAULT, GIT, Job, Notice, Sourced, product_run_id
from hwci.ci.project import Project
from hwci.ci.systems import detected
from hwci.ci.systems.system import (
    JobEnvironment,
    System,
    commit,
    slug,
)
from hwci.client.files import MEBIBYTE, read_whole
from hwci.contract.vocabulary import Trigger
from hwci.wire import limits
from hwci.wire.hashes import is_hash
from hwci.wire.links import is_address

NO_SYSTEM = "no CI system that is known"
PROJECT_FILE = "hwci.toml"
PEOPLE = ("-", "HWCI_")
"""How flags and variables of hwci begin: a person sets them."""
BOX_FILE = "box.json"
USUAL_MERGE_BRANCHES = ("main", "master")
"""Where no source names the branches that are merged into."""

HINTS = ("before_sha", "base_sha")
"""Commits that improve a report, which is made without them as well."""
COMMIT_FIELDS = ("sha", "covers_shas", *HINTS)

_COMMITS = frozenset({"sha", "before_sha", "previous_sha", "succeeded_sha"})
"""What a system reads as one commit."""
EVENT_BYTES_MAX = 64 * MEBIBYTE
"""GitHub cuts its events at 25 MB."""
_SHOWN = 60
"""Characters of a wrong value that are shown."""
_FULL = re.compile(r"[0-9A-Fa-f]{40}|[0-9A-Fa-f]{64}|0{7,}")
"""A hash of zeros, of any length, stands for no commit."""

_Fields = dict[str, Sourced[Any]]


def find_job(
    flags: Mapping[str, object],
    environ: Mapping[str, str],
    checkout: Repository | None,
    project: Project | None,
    installed_as: str | None = None,
) -> Job:
    """Find out what this job is. `flags`: the fields that the command line sets, None where it does
    not. `checkout`: the work tree, None outside any. `installed_as`: the box that this machine is.
    """
    system = detected(environ)
    variables, faults = _variables(environ)
    flagged: _Fields = {
        name: Sourced(value, BY_NAME[name].flag)
        for name, value in flags.items()
        if value is not None
    }
    fields, unknown = _with_full_hashes({**variables, **flagged}, checkout)
    fields = {**_of_project(project, fields), **fields}
    event, unreadable = _event(system, environ)
    env = JobEnvironment(environ, event, frozenset(fields))
    merge_branches = _merge_branches(system, env, fields, checkout)
    env = replace(env, merge_branches=merge_branches.value)
    tested = _of_system(system, env, fields, checkout, project) if system else Tested({})
    fields, of_push = _without_push(tested, fields)
    fields = {**_of_product(dict(tested.fields), fields, project), **fields}
    fields = {**_defaults(system, installed_as), **_of_git(checkout, fields), **fields}
    no_page = _no_page(fields.get("ci_url"))
    if no_page:
        del fields["ci_url"]
    return Job(
        system=system.name if system else None,
        title=system.title if system else NO_SYSTEM,
        fields=in_order(fields),
        name=fields["job"].value if "job" in fields and "run_id" not in env.set_by_people else None,
        before_sha=_commit(fields.get("before_sha")),
        previous_sha=tested.fields.get("previous_sha"),
        succeeded_sha=tested.fields.get("succeeded_sha"),
        pushed_shas=fields["pushed_shas"].value if "pushed_shas" in fields else (),
        merge_branches=merge_branches,
        pull=tested.fields["pull"].value if "pull" in tested.fields else None,
        queued="queued" in fields,
        batched="batched" in fields,
        bad_settings=(
            *_not_mended(faults, fields),
            *(text for name, text in unknown.items() if name not in HINTS),
        ),
        unreadable=(*unreadable, *no_page),
        unknown_commits=(*(text for name, text in unknown.items() if name in HINTS), *of_push),
        doubts=_doubts(tested, fields, checkout, project),
        counts_attempts=_counts_attempts(tested.fields, fields),
        is_other=tested.is_other,
        is_elsewhere=tested.elsewhere,
        environ=environ,
    )


def _doubts(
    named: Tested, fields: _Fields, checkout: Repository | None, project: Project | None
) -> tuple[Notice, ...]:
    """Return what people should know of commit and repository, unless they name the commit."""
    sha, repo_key = fields.get("sha"), fields.get("repo_key")
    if sha is not None and sha.source.startswith(PEOPLE):
        return ()
    by_people = repo_key is not None and repo_key.source.startswith((*PEOPLE, PROJECT_FILE))
    tests = None
    if repo_key is not None and by_people and not _has_firmware(project):
        tests = of_tests(repo_key, checkout, named.fields.get("repo_key"))
    return tuple(notice for notice in (named.notice, tests) if notice)


def _has_firmware(project: Project | None) -> bool:
    """Return whether the project file says where the firmware is checked out."""
    return project is not None and project.firmware is not None


def _without_push(tested: Tested, fields: _Fields) -> tuple[_Fields, tuple[str, ...]]:
    """Return the fields of people without the variable in which a job passes on where the branch
    stood before the push, if that push is not of what was tested; and a message about it.
    """
    before, variable = fields.get("before_sha"), BY_NAME["before_sha"].variable
    if before is None or before.source != variable or "sha" in fields or not tested.is_other:
        return fields, ()
    left = {name: value for name, value in fields.items() if name != "before_sha"}
    return left, (f"{variable} is of the push of another commit than the one that is checked out",)


def _counts_attempts(named: Mapping[str, Sourced[Any]], fields: _Fields) -> bool:
    """Return False if the CI numbers the run, and neither it nor a person says the attempt."""
    if "run_id" not in named or "run_attempt" in named:
        return True
    return fields["run_attempt"].source != DEFAULT or fields["run_id"].source.startswith(PEOPLE)


def product_notice(job: Job, project: Project | None) -> Notice | None:
    """Return a notice if the product of a job is none of those in the project file: no source names
    one of several, or its name is not among them; or if nothing names one, at a desk without such a
    file. It is reported as it is.
    """
    suites = sorted({product.suite for product in project.products}) if project else []
    suite = job.fields.get("suite")
    name = suite.value if suite else job.value("workflow")
    if not suites and suite is None and _is_default(job, "workflow"):
        what = f"no product is named for this run: it counts as one of product {name}"
        return Notice(what, f"Name it: --suite (HWCI_SUITE), or {PROJECT_FILE} (hwci init)")
    if not suites or name is None or name in suites:
        return None
    known = ", ".join(suites)
    if suite is None:
        what = (
            f"{PROJECT_FILE} has {len(suites)} products ({known}), and none is named for this run: "
            f"it counts as one of product {name}, the workflow"
        )
        return Notice(what, "Name it: --suite (HWCI_SUITE)")
    what = f"{suite.source} says product {name}, which {PROJECT_FILE} does not have; it has {known}"
    return Notice(what, f"Correct {suite.source}, or add a [[product]]")


def _is_default(job: Job, field: str) -> bool:
    return field in job.fields and job.fields[field].source == DEFAULT


def _variables(environ: Mapping[str, str]) -> tuple[_Fields, dict[str, str]]:
    """Read `HWCI_*`. Return also, by field, why a value cannot be understood."""
    env = JobEnvironment(environ)
    fields: _Fields = {}
    faults: dict[str, str] = {}
    for field in FIELDS:
        text = env.text(field.variable)
        if not text:
            continue
        try:
            value = field.read(text)
        except ValueError as fault:
            faults[field.name] = f"{field.variable} is {text!r}: {fault}"
            continue
        if value is not None:
            fields[field.name] = Sourced(value, field.variable)
    return fields, faults


def _not_mended(faults: Mapping[str, str], fields: _Fields) -> tuple[str, ...]:
    """Leave out what a flag sets as well, and what the system understands: CircleCI's own words."""
    mended = {
        name
        for name in faults
        if name in fields and fields[name].source in {BY_NAME[name].flag, BY_NAME[name].variable}
    }
    return tuple(text for name, text in faults.items() if name not in mended)


# The commits that people name


def _with_full_hashes(
    fields: Mapping[str, Sourced[Any]], checkout: Repository | None
) -> tuple[_Fields, dict[str, str]]:
    """Return the fields with full hashes, without those that name no commit here; and, by field,
    a message about each of these.
    """
    known, unknown = dict(fields), {}
    for name in COMMIT_FIELDS:
        if name not in fields:
            continue
        value, source = fields[name].value, fields[name].source
        revisions = value if isinstance(value, tuple) else (value,)
        shas = tuple(full_hash(revision, checkout) for revision in revisions)
        missing = [text for text, sha in zip(revisions, shas, strict=True) if sha is None]
        if missing:
            unknown[name] = f"{source} is {', '.join(map(repr, missing))}: {_no_commit(checkout)}"
            del known[name]
        else:
            known[name] = Sourced(shas if isinstance(value, tuple) else shas[0], source)
    return known, unknown


def full_hash(revision: str, checkout: Repository | None) -> str | None:
    """Return the full hash of a revision, None if unknown. Without a repository, any hash that a
    report may hold is taken as it is.
    """
    text = revision.strip()
    if is_hash(text) if checkout is None else _FULL.fullmatch(text):
        return text.lower()
    return checkout.resolved(text) if checkout is not None and text else None


def _no_commit(checkout: Repository | None) -> str:
    if checkout is None:
        return "that is not a hash, and there is no repository here in which git could look it up"
    return "that is not a full hash, and git knows no such commit in this clone, which may lack it"


def _commit(field: Sourced[Any] | None) -> Sourced[str] | None:
    sha = commit(field.value) if field else None
    return Sourced(sha, field.source) if field and sha else None


def _no_page(page: Sourced[Any] | None) -> tuple[str, ...]:
    """Return that the page of the job is none; a report is better with it and can be without."""
    if page is None or (len(page.value) <= limits.URL_MAX and is_address(page.value)):
        return ()
    shown = page.value if len(page.value) <= _SHOWN else f"{page.value[:_SHOWN]}…"
    rule = f"an address that begins with http:// or https:// and has at most {limits.URL_MAX:,}"
    return (f"{page.source} is {shown!r}: it should be {rule} characters, none of them blank",)


# The sources below flags and variables


def _of_project(project: Project | None, fields: _Fields) -> _Fields:
    """Read the project file: the product that is named, or the only one. Tables of one name are of
    one product, as far as they agree.
    """
    if project is None:
        return {}
    suite = fields.get("suite")
    products = [item for item in project.products if suite is None or item.suite == suite.value]
    suites = {item.suite for item in products}
    named: Mapping[str, set[str] | set[str | None]] = {
        "repo_key": {item.repo_key or project.repo_key for item in products} or {project.repo_key},
        "suite": suites,
        "box_key": {item.box for item in products} if len(suites) == 1 else set(),
    }
    agreed = {name: values.pop() for name, values in named.items() if len(values) == 1}
    return {name: Sourced(value, PROJECT_FILE) for name, value in agreed.items() if value}


def _event(
    system: System | None, environ: Mapping[str, str]
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Read the event that the system left in a file. Return also why that cannot be read."""
    path = environ.get(system.event_path, "") if system else ""
    if not system or not path:
        return {}, ()
    try:
        event = json.loads(read_whole(Path(path), EVENT_BYTES_MAX))
        if isinstance(event, dict):
            return event, ()
        why = "it is not a JSON object"
    except OSError as fault:
        why = fault.strerror or str(fault)
    except (ValueError, RecursionError):
        why = "it is not JSON"
    return {}, (f"The event of this run cannot be read ({system.event_path}): {path}: {why}",)


def _merge_branches(
    system: System | None, env: JobEnvironment, fields: _Fields, checkout: Repository | None
) -> Sourced[tuple[str, ...]]:
    """Return the branches that are merged into: as set by a person, else the default branch."""
    if "merge_branches" in fields:
        branches = fields["merge_branches"]
        return Sourced(tuple(branches.value), branches.source)
    if default := system.read("default_branch", env) if system else None:
        return Sourced((default.value,), default.source)
    name = checkout.default_branch() if checkout else None
    return Sourced((name,), GIT) if name else Sourced(USUAL_MERGE_BRANCHES, DEFAULT)


def _of_system(
    system: System,
    env: JobEnvironment,
    known: _Fields,
    checkout: Repository | None,
    project: Project | None,
) -> Tested:
    """Read all fields, as they hold for the commit that was tested: the one that a person names, or
    that is checked out. What the system knows of its push holds for its own commit only.
    """
    read = {name: _read(system, name, env, checkout) for name in system.readers}
    fields = system.in_place({name: value for name, value in read.items() if value}, env)
    if "sha" in fields and (sha := full_hash(fields["sha"].value, checkout)):
        # A build may be started with a short one.
        fields["sha"] = Sourced(sha, fields["sha"].source)
    chosen = known["sha"].value if "sha" in known else None
    if checkout is None:
        return Tested(fields) if chosen is None else chosen_elsewhere(fields, chosen)
    commits = (system.read(name, env) for name in ("sha", "built"))
    built = {sha for commit in commits if commit and (sha := full_hash(commit.value, checkout))}
    place = Checkout(checkout, system.merger, _has_firmware(project), chosen)
    return as_tested(fields, built, place, env.merge_branches)


def _read(
    system: System, name: str, env: JobEnvironment, checkout: Repository | None
) -> Sourced[Any] | None:
    """Read a field. In place of a merge that the system made up, return the head of its pull
    request: another build of the same would make another merge.
    """
    field = system.read(name, env)
    if field is None or checkout is None or system.merger is None or name not in _COMMITS:
        return field
    head = checkout.merged_head(field.value, system.merger)
    return field if head is None else Sourced(head, f"{field.source}, its first parent")


def _of_product(of_system: _Fields, fields: _Fields, project: Project | None) -> _Fields:
    """Make a run id for each product of a CI run, the same in each attempt: two that are tested on
    one box would otherwise replace each other's reports. One that a person sets has the CI's number
    beside it, too.
    """
    run_id, suite = of_system.get("run_id"), fields.get("suite")
    if run_id is not None and "run_id" in fields and fields["run_id"].value != run_id.value:
        return {"ci_run": run_id, **of_system}
    several = project is not None and len({item.suite for item in project.products}) > 1
    if not several or run_id is None or suite is None:
        return of_system
    own = Sourced(product_run_id(run_id.value, suite.value), f"{run_id.source} and the product")
    return {"ci_run": run_id, **of_system, "run_id": own}


def _of_git(checkout: Repository | None, fields: _Fields) -> _Fields:
    """Ask git for the fields that are still missing."""
    if checkout is None:
        return {}
    questions: Mapping[str, Callable[[], object]] = {
        "repo_key": lambda: slug(checkout.remote_url() or ""),
        "sha": checkout.head,
        "branch": checkout.branch,
    }
    answers = {name: ask() for name, ask in questions.items() if name not in fields}
    return {name: Sourced(value, GIT) for name, value in answers.items() if value}


def _defaults(system: System | None, installed_as: str | None) -> _Fields:
    usual: dict[str, object] = {"run_attempt": 1, "trigger": Trigger.MANUAL}
    if system is None:
        usual["workflow"] = "local"
    box = {"box_key": Sourced(installed_as, BOX_FILE)} if installed_as else {}
    return {name: Sourced(value, DEFAULT) for name, value in usual.items()} | box
