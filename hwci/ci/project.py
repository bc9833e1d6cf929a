# SPDX-License-Identifier: Apache-2.0
"""`hwci.toml`, the project file in the root of a repository (contract, "Command line").

This module decides where the file lies and what it may hold: products with their paths and boxes
(spec, "Suite configuration"), and rules for verdicts. How a job uses it is decided in
`hwci.ci.detect`, and what the rules mean in `hwci.ci.results.verdicts`. Of the tables here
`docs/project_schema.py` makes the JSON Schema of the file.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from itertools import islice
from operator import getitem
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError

from hwci import __version__
from hwci.ci.results.platforms import Platforms
from hwci.client.files import read_whole
from hwci.contract.vocabulary import Verdict
from hwci.engine.patterns import PathList
from hwci.said import counted
from hwci.wire import limits
from hwci.wire.base import Name
from hwci.wire.errors import message_of
from hwci.wire.links import NEEDED
from hwci.wire.nearest import hint
from hwci.wire.reports import Links, PatternList, Percentage, SuiteConfiguration

FILE_NAME = "hwci.toml"
ROOT_MARK = ".git"
"""At the root of a work tree: a folder, or a file in work trees added later."""


class ProjectFileError(Exception):
    """A project file that is broken. `faults`: each with its place, in words for people."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = tuple(faults)


def _pattern(value: object) -> re.Pattern[str]:
    if not isinstance(value, str) or not value:
        raise PydanticCustomError("pattern", "Should be text: a regular expression")
    try:
        return re.compile(value)
    except re.error as fault:
        raise PydanticCustomError(
            "pattern", "Should be a regular expression of Python: {why}", {"why": str(fault)}
        ) from fault


Word = TypeVar("Word", bound=StrEnum)


def _one_of(words: type[Word]) -> PlainValidator:
    def read(value: object) -> Word:
        try:
            return words(str(value))
        except ValueError as fault:
            known = ", ".join(words)
            text = "Should be one of {known}"
            raise PydanticCustomError("word", text, {"known": known}) from fault

    return PlainValidator(read)


class _Table(BaseModel):
    """A table of the file: strict, so that an unknown key is never overlooked."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class ProductTargets(_Table):
    """`targets` of a `[[product]]`: shares in percent."""

    merges_checked: Percentage | None = Field(
        None, description="So many of the merges checked on hardware at least."
    )
    infra_runs: Percentage | None = Field(
        None, description="So many run reports of runs that never reached it at most."
    )


class Product(_Table):
    """A `[[product]]`: which files are its firmware, and which test it."""

    repo_key: Name | None = Field(None, description="Its repository, else that of the file.")
    suite: Name = Field(description="Its name.")
    firmware_paths: PatternList = Field(
        description="A fix of these files makes a failure a firmware bug."
    )
    harness_paths: PatternList = Field(
        description="A fix of these files makes a failure a fault of the harness."
    )
    trigger_paths: PatternList | None = Field(
        None, description="A merge that touches none of these needs no run; else every one does."
    )
    merge_trigger: bool = Field(
        True, description="Merges start the suite, so that they are announced."
    )
    targets: ProductTargets | None = None
    box: Name | None = Field(None, description="The bench, where the CI does not name it.")

    def starts(self, paths: Sequence[str]) -> bool:
        """Return whether a merge of these files starts the product's suite."""
        if not self.merge_trigger or not self.trigger_paths:
            return self.merge_trigger
        trigger = PathList.parse(self.trigger_paths)
        return any(trigger.matches(path) for path in paths)

    def configuration(
        self, repo_key: str | None = None, links: Mapping[str, object] | None = None
    ) -> SuiteConfiguration:
        """Return the suite configuration for the server. `repo_key`: its repository, if neither the
        product nor the file names one.

        Raises:
            ValidationError: no repository is named, or a rule is broken.
        """
        fields = self.model_dump(exclude={"box"} | ({"targets"} if self.targets is None else set()))
        whole = {**fields, "repo_key": self.repo_key or repo_key}
        return SuiteConfiguration.model_validate(whole | ({"links": links} if links else {}))


class VerdictRule(_Table):
    """A `[[verdict]]`: what a failure blames. The first rule that matches counts."""

    message: Annotated[
        re.Pattern[str],
        PlainValidator(_pattern),
        WithJsonSchema({"type": "string", "minLength": 1}),
    ] = Field(description="A regular expression of Python, found anywhere in the message.")
    verdict: Annotated[Verdict, _one_of(Verdict), WithJsonSchema({"enum": [*Verdict]})] = Field(
        description="The device, or the bench (infra)."
    )


class Firmware(_Table):
    """`[firmware]`, where the tests have a repository of their own."""

    checkout: Name = Field(
        description="The folder in which it is checked out, from that of this file."
    )


class Names(StrEnum):
    """How the tests of several result files are named."""

    APART = "apart"
    BY_FILE = "by-file"


class Tests(_Table):
    """`[tests]`: what the tests of result files are called."""

    names: Annotated[Names, _one_of(Names), WithJsonSchema({"enum": [*Names]})] = Field(
        Names.APART, description="How tests of several files that share a name are told apart."
    )
    platforms: Annotated[
        Platforms | None, _one_of(Platforms), WithJsonSchema({"enum": [*Platforms]})
    ] = Field(None, description="Where the platform of a Twister result stands.")


class _DescribedAsLinks:
    """Not read here (`Project.links`), but described as what is taken where they are sent."""

    def __get_pydantic_json_schema__(
        self, _: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        described = handler(Links.__pydantic_core_schema__)
        handler.resolve_ref_schema(described)["additionalProperties"] = False
        return described


class File(_Table):
    """`hwci.toml`: what hwci has to know of a repository."""

    repo_key: Name | None = Field(
        None, description="The repository as in all reports, else the name from CI or git."
    )
    firmware: Firmware | None = None
    messages: bool = Field(
        False, description="Send what a harness wrote of a failed test; it may hold a secret."
    )
    links: Annotated[Any, _DescribedAsLinks()] = None
    tests: Tests = Tests()
    product: Sequence[Product] = ()
    verdict: Sequence[VerdictRule] = ()


_TABLES: Mapping[str, type[_Table]] = {
    "firmware": Firmware,
    "product": Product,
    "tests": Tests,
    "verdict": VerdictRule,
}
_SHOWN = 10  # unknown keys
_NO_LIST_TYPES = frozenset(("sequence_str", "is_instance_of"))


@dataclass(frozen=True, slots=True)
class Project:
    """What a project file holds. `verdicts`: the first that matches counts. `messages`: those of
    failed tests are reported. `links`: as written; reports do without, so that they are checked
    only where they are sent. `unknown`: which keys were left out, in one line; empty if none.
    `names`: how tests of several files are told apart. `platforms`: where those of one file stand.
    """

    path: Path
    repo_key: str | None = None
    products: tuple[Product, ...] = ()
    verdicts: tuple[tuple[re.Pattern[str], Verdict], ...] = ()
    messages: bool = False
    links: Any = None
    unknown: str = ""
    firmware: Path | None = None
    """The folder of the firmware's checkout; None if it is that of the file."""
    names: Names = Names.APART
    platforms: Platforms | None = None


def names_by_file(project: Project | None) -> bool:
    """Return whether each result file names its tests by itself."""
    return project is not None and project.names is Names.BY_FILE


def find_project(start: Path) -> Project | None:
    """Read the nearest project file from a folder up to the root of its repository. Outside any
    repository only the folder itself counts: a file further up may belong to anyone.

    Raises:
        ProjectFileError: it cannot be read or is broken, or it cannot be known whether there is
            one.
    """
    path = project_path(start)
    return None if path is None else read_project(path)


def project_path(start: Path) -> Path | None:
    """Find the nearest project file.

    Raises:
        ProjectFileError: it cannot be known, as where this user may not search a folder above.
            Without its rules a report would differ, so it does not count as missing.
    """
    folders = (start, *start.parents)
    try:
        depth = next((at for at, folder in enumerate(folders) if (folder / ROOT_MARK).exists()), 0)
        paths = (folder / FILE_NAME for folder in folders[: depth + 1])
        return next((path for path in paths if path.is_file()), None)
    except OSError as fault:
        why = f"{FILE_NAME} cannot be looked for from {start}: {fault.strerror}"
        raise ProjectFileError(
            [f"{why}; call hwci in a folder that this user may look into"]
        ) from fault


def read_project(path: Path) -> Project:
    """Read a project file, without keys that are not known: a newer hwci may have written them.

    Raises:
        ProjectFileError: it cannot be read, is too large, or is broken.
    """
    unknown = ""
    try:
        content = tomllib.loads(read_whole(path, limits.SUITE_CONFIG_BYTES).decode("utf-8-sig"))
        unknown = _unknown_keys(path, list(_taken_out(content)))
        file = File.model_validate(content)
    except OSError as fault:
        raise ProjectFileError([f"{path}: cannot be read: {fault.strerror}"]) from fault
    except ValidationError as fault:
        faults = (f"{path}: {_sentence(error)}" for error in _errors(fault))
        raise ProjectFileError([*filter(None, [unknown]), *faults]) from fault
    except UnicodeDecodeError as fault:
        cause = f"is not text in UTF-8, at byte {fault.start}"
        raise ProjectFileError([f"{path}: {cause}"]) from fault
    except ValueError as fault:  # of TOML; the text names line and column
        raise ProjectFileError([f"{path}: {fault}"]) from fault
    own = {"repo_key": file.repo_key}
    return Project(
        path,
        file.repo_key,
        tuple(
            product if product.repo_key else product.model_copy(update=own)
            for product in file.product
        ),
        tuple((rule.message, rule.verdict) for rule in file.verdict),
        file.messages,
        file.links,
        unknown,
        path.parent / file.firmware.checkout if file.firmware else None,
        file.tests.names,
        file.tests.platforms,
    )


def _errors(fault: ValidationError) -> list[ErrorDetails]:
    return fault.errors(include_url=False, include_input=False)


def _taken_out(content: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Take the keys that are not known out of what a file holds, and yield the place of each, with
    a hint at the known ones.
    """
    try:
        File.model_validate(content)
    except ValidationError as fault:
        for error in _errors(fault):
            if error["type"] == "extra_forbidden":
                *way, key = error["loc"]
                known = _table_at(way).model_fields
                del reduce(getitem, way, cast("Any", content))[key]
                yield ": ".join((*_places(way), str(key))), hint(str(key), known)
    if isinstance(links := content.get("links"), dict):
        for key in [key for key in links if key not in NEEDED]:
            del links[key]
            yield f"links: {key}", hint(key, NEEDED)


def _table_at(way: Sequence[int | str]) -> type[_Table]:
    """Return the table at a place of the file."""
    if not way:
        return File
    return ProductTargets if way[-1] == "targets" else _TABLES[str(way[0])]


def _unknown_keys(path: Path, keys: Sequence[tuple[str, str]]) -> str:
    """Return the line about keys that are not known, each hint once; empty if there is none."""
    if not keys:
        return ""
    first = {known: place for place, known in reversed(keys)}
    named = (f"{place} ({known})" if first[known] == place else place for place, known in keys)
    more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    return (
        f"{path}: {counted(len(keys), 'unknown key')}: {', '.join(islice(named, _SHOWN))}{more}. "
        f"Correct what is misspelt; if a newer hwci than {__version__} knows the rest, update hwci"
    )


def _sentence(error: ErrorDetails) -> str:
    """Return the place and the fault: `product 2: firmware_paths, item 1: …`."""
    place, message = error["loc"], message_of(error)
    if error["type"] in _NO_LIST_TYPES:
        tables = f": write [[{place[0]}]]" if place[-1] in _TABLES else ""
        message = f"Should be a list{tables}"
    return ": ".join((*_places(place), message))


def _places(place: Sequence[str | int]) -> Iterator[str]:
    """Yield the words of a place, counted from 1."""
    if len(place) > 1 and isinstance(place[1], int):
        number = place[1] + 1
        table = place[0] in _TABLES
        yield f"{place[0]} {number}" if table else f"{place[0]}, item {number}"
        yield from _places(place[2:])
    elif place:
        yield str(place[0])
        yield from _places(place[1:])
