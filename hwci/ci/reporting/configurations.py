# SPDX-License-Identifier: Apache-2.0
"""Suite configurations in files (spec, "Suite configuration"): JSON bodies, or the products of a
project file. All faults of all files are found before anything else happens.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from hwci.ci.detect import find_job
from hwci.ci.git.path_check import PathCheck, check_paths, tracked
from hwci.ci.git.repository import GitError, Repository
from hwci.ci.job import Job
from hwci.ci.project import ProjectFileError, project_path, read_project
from hwci.ci.reporting.context import CommandContext
from hwci.client.explained import command_error, fault_lines, shortened, wrong_usage
from hwci.client.files import read_whole
from hwci.said import counted
from hwci.wire import limits
from hwci.wire.errors import issues_of
from hwci.wire.links import guessed
from hwci.wire.reports import Links, SuiteConfiguration


def files_or_found(files: Sequence[Path] | None, command: CommandContext) -> list[Path]:
    """Return the files that are named, else the project file of this folder's repository.

    Raises:
        ExplainedError: wrong usage: none is named, and none is found.
    """
    if files:
        return list(files)
    folder = command.folder()
    try:
        path = project_path(folder)
    except ProjectFileError as fault:
        raise wrong_usage("There is no configuration", str(fault), "Name a FILE") from fault
    if path is None:
        raise wrong_usage(
            "There is no configuration",
            "no FILE is named, and neither here nor above, in this repository, is an hwci.toml",
            "Name a file, or write one: hwci init",
        )
    try:
        return [path.relative_to(folder)]
    except ValueError:
        return [path]


class LocalRepository(NamedTuple):
    """A repository: its root, tracked files and remote, the branch that merges go into as far as
    git knows it, and the e-mail of whoever commits here.
    """

    root: Path
    files: Sequence[str]
    remote: str | None
    main: str
    email: str | None


def repository_of(folder: Path, what: str) -> LocalRepository:
    """Return the repository around a folder.

    Raises:
        ExplainedError: there is no repository; `what`: what was not done.
    """
    repository = Repository(folder)
    try:
        root = Path(repository.run("rev-parse", "--show-toplevel").decode().strip())
        names = Repository(root).run("ls-files", "-z").decode(errors="replace")
    except GitError as fault:
        fix = fault.fix or "Call it in the checkout of the firmware"
        raise wrong_usage(what, str(fault), fix) from fault
    return LocalRepository(
        root,
        [name for name in names.split("\0") if name],
        repository.remote_url(),
        repository.default_branch() or repository.branch() or "main",
        repository.asked("config", "--get", "user.email"),
    )


def read_configurations(
    files: Sequence[Path], fix: str, command: CommandContext, checkout: Path | None = None
) -> list[SuiteConfiguration]:
    """Read every file. A product that names no repository is of the one that reports from
    `checkout` name; None: from this folder.

    Raises:
        ExplainedError: with every fault of all files.
    """
    read: list[SuiteConfiguration] = []
    faults: list[str] = []
    for path in files:
        if path.suffix == ".toml":
            read += _products(path, faults, command, checkout)
        else:
            read += _body(path, faults)
    faults += _twice(read)
    if faults:
        what, cause = "The configuration breaks the rules", counted(len(faults), "fault")
        raise command_error(what, cause, fix, details=shortened(faults))
    return read


def check_repository(read: Sequence[SuiteConfiguration], folder: Path) -> PathCheck | GitError:
    """Check how configurations fit a checkout. Return the error if git cannot read it."""
    try:
        return check_paths(read, tracked(Repository(folder)))
    except GitError as fault:
        return fault


def _products(
    path: Path, faults: list[str], command: CommandContext, checkout: Path | None
) -> Iterator[SuiteConfiguration]:
    try:
        project = read_project(path)
    except ProjectFileError as fault:
        faults += fault.faults
        return
    faults += filter(None, [project.unknown])
    products = project.products
    if not products:
        faults.append(f"{path}: holds no [[product]] table")
    nameless = any(product.repo_key is None for product in products)
    job = _job(command, checkout or command.folder()) if nameless else None
    repo_key = job.fields.get("repo_key") if job else None
    if job and repo_key is not None:
        whose = f"products without repo_key are of {repo_key.value} ({repo_key.source})"
        command.notify(f"note: {path}: {whose}.")
    links = _links(project.links, path, faults, checkout or command.folder())
    for number, product in enumerate(products, 1):
        if product.repo_key is None and repo_key is None:
            faults.append(
                f"{path}: product {number}: repo_key is missing, here and at the top, and neither "
                "HWCI_REPO_KEY nor the CI nor git has it"
            )
            continue
        try:
            yield product.configuration(repo_key.value if repo_key else None, links)
        except ValidationError as fault:  # the name may be too long
            faults += [
                f"{path}: product {number}: {'.'.join(map(str, issue.path[1:]))}: {issue.message}"
                for issue in issues_of(fault, "product")
            ]


def _links(
    links: Any,  # noqa: ANN401 - whatever TOML holds
    path: Path,
    faults: list[str],
    folder: Path,
) -> dict[str, object] | None:
    """Return the templates of `[links]`, and for those that it leaves out the usual ones of the
    site that the repository was cloned from.
    """
    own = {} if links is None else links
    if not isinstance(own, dict):
        faults.append(f"{path}: links: Should be a table")
        return None
    try:
        Links.model_validate(own)
    except ValidationError as fault:  # named once, not for each product
        issues = issues_of(fault, "links")
        faults += [f"{path}: {'.'.join(map(str, issue.path))}: {issue.message}" for issue in issues]
        return None
    checkout = Repository(folder)
    remote = checkout.remote_url() if checkout.fault() is None else None
    return {**guessed(remote or ""), **own} or None


def _job(command: CommandContext, folder: Path) -> Job:
    checkout = Repository(folder)
    return find_job({}, command.environ, checkout if checkout.fault() is None else None, None)


def _body(path: Path, faults: list[str]) -> Iterator[SuiteConfiguration]:
    try:
        yield SuiteConfiguration.model_validate(
            json.loads(read_whole(path, limits.SUITE_CONFIG_BYTES))
        )
    except OSError as fault:
        faults.append(f"{path}: cannot be read: {fault.strerror}")
    except ValidationError as fault:
        faults += [f"{path}: {line}" for line in fault_lines(issues_of(fault, "body"))]
    except ValueError as fault:  # JSON and its encoding alike; the text names line and column
        faults.append(f"{path}: {fault}")


def _twice(read: Sequence[SuiteConfiguration]) -> Iterator[str]:
    seen: set[tuple[str, str]] = set()
    for config in read:
        product = (config.repo_key, config.suite)
        if product in seen:
            yield f"{config.repo_key}:{config.suite} is configured twice"
        seen.add(product)
