# SPDX-License-Identifier: Apache-2.0
"""Suite configurations in files (spec, "Suite configuration"): JSON bodies, or the products of a
project file. All faults of all files are found before anything else happens.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli.failing import CommandError, Failing, fault_lines, shortened, wrong_usage
from hwci.cli.tables import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hwci.wire.reports import SuiteConfiguration

Files = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[FILE...]",
        help="JSON body, or TOML with [[product]] tables [the hwci.toml of this repository].",
        show_default=False,
    ),
]


def files_or_found(files: Sequence[Path] | None) -> list[Path]:
    """Give the files that are named, else the project file of this folder's repository.

    Raises:
        CommandError: wrong usage: none is named, and there is none, or nobody can tell.
    """
    from hwci.ci.project import ProjectFileError, project_path

    if files:
        return list(files)
    try:
        found = project_path(Path.cwd())
    except ProjectFileError as fault:
        raise wrong_usage("There is no configuration", str(fault), "Name a FILE") from fault
    if found is None:
        raise wrong_usage(
            "There is no configuration",
            "no FILE is named, and neither here nor above, in this repository, is an hwci.toml",
            "Name a file, or write hwci.toml at the root of the repository",
        )
    try:
        return [found.relative_to(Path.cwd())]
    except ValueError:
        return [found]


def read_configurations(files: Sequence[Path], fix: str) -> list[SuiteConfiguration]:
    """Read every file.

    Raises:
        CommandError: with every fault of all files.
    """
    read: list[SuiteConfiguration] = []
    faults: list[str] = []
    for path in files:
        read += _products(path, faults) if path.suffix == ".toml" else _body(path, faults)
    faults += _twice(read)
    if faults:
        what, cause = "The configuration breaks the rules", counted(len(faults), "fault")
        raise CommandError(Failing(what, cause, fix, details=shortened(faults)))
    return read


def _products(path: Path, faults: list[str]) -> Iterator[SuiteConfiguration]:
    from hwci.ci.project import ProjectFileError, read_project

    try:
        products = read_project(path).products
    except ProjectFileError as fault:
        faults += fault.faults
        return
    if not products:
        faults.append(f"{path}: holds no [[product]] table")
    for number, product in enumerate(products, 1):
        if product.repo_key is None:
            faults.append(f"{path}: product {number}: repo_key is missing, here and at the top")
        else:
            yield product.configuration()


def _body(path: Path, faults: list[str]) -> Iterator[SuiteConfiguration]:
    import json

    from pydantic import ValidationError

    from hwci.ci.bounded import read_whole
    from hwci.wire import limits
    from hwci.wire.errors import issues_of
    from hwci.wire.reports import SuiteConfiguration

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
