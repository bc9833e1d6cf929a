# SPDX-License-Identifier: Apache-2.0
"""The first `hwci.toml` of a repository, guessed from the names of its files. No file is opened,
and people correct the guess. What the file may hold is decided in `hwci.ci.project`.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from hwci.ci.new_job import jobs_of

_HARNESS = re.compile(r"(.*[_-])?(tests?|testing|hil|qa|pytest)([_-].*)?", re.IGNORECASE)
_NEITHER = frozenset(("doc", "docs", "documentation", "tools", "scripts", "examples", "samples"))
_SOURCES = frozenset((
    ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".s", ".ld", ".rs", ".zig", ".ino", ".dts", ".dtsi",
    ".overlay", ".conf", ".cmake",
))  # fmt: skip
_BUILDS = re.compile(
    r"CMakeLists\.txt|Makefile|Kconfig.*|prj.*\.conf|platformio\.ini|sdkconfig.*|meson\.build|"
    r"Cargo\.(toml|lock)|build\.rs|.*\.(ioc|ld|cmake)"
)
_MANIFEST = "west.yml"
_HEAD = (
    "# Which files are the firmware, and which test it. `hwci init` guessed it from the",
    "# names of the files: correct it, then run `hwci suite-config check`.",
    "",
)
_TARGETS = (
    "# The target lines of the charts, in percent: so many of the merges checked on hardware at",
    "# least, so many run reports of runs that never reached it at most.",
    "targets = { merges_checked = 95, infra_runs = 5 }",
    "",
)
_PLATFORMS = (
    "# Twister's platform stands before each test's name, whatever else a file holds.",
    '# "as-boxes" names the boxes after it instead: bench-1:nucleo_f767zi.',
    "[tests]",
    'platforms = "in-names"',
    "",
)
_RULES = {"relay .* stuck": "infra", "watchdog reset|hard fault": "device"}
_TWISTER = frozenset(("testcase.yaml", "sample.yaml"))
_PLAIN = re.compile(r"[\w.+ -]+")
"""Other names would mean something in a pattern."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What a repository seems to hold. `owner`: the name before its own in its address, else its
    own. `repo_key`: only if neither CI nor git would name it.
    """

    suite: str
    owner: str
    repo_key: str | None
    firmware: Sequence[str]
    harness: Sequence[str]
    manifests: Sequence[str]
    twister: bool

    @property
    def text(self) -> str:
        """The project file."""
        return "".join(f"{line}\n" if line else "\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield from _HEAD
        if self.repo_key is not None:
            yield "# No remote yet. Another name later begins a new history."
            yield f"repo_key = {_quoted(self.repo_key)}"
        else:
            yield '# repo_key = "acme/firmware"   # without it, the name that CI or git has'
        yield ""
        yield from _PLATFORMS if self.twister else ()
        yield "[[product]]"
        yield f"suite = {_quoted(self.suite)}"
        yield '# box = "bench-1"   # the bench, where the CI does not name it'
        yield ""
        yield "# A fix of these files makes a failure a firmware bug."
        yield from _list("firmware_paths", [*self.firmware, *self.manifests])
        if self.manifests:
            yield "# A west manifest is firmware: a change of it brings other modules."
        yield ""
        yield "# A fix of these files makes it a fault of the harness."
        yield from _list("harness_paths", self.harness)
        yield ""
        yield "# A merge that touches none of these needs no run. Without it, every one does."
        yield '# trigger_paths = ["src/**"]'
        yield ""
        yield from _TARGETS
        yield "# What a failure blames, by a regular expression for its message: the device or the"
        yield "# bench (infra). What no rule knows is ambiguous until a person reviews it."
        for message, verdict in _RULES.items():
            yield "# [[verdict]]"
            yield f'# message = "{message}"'
            yield f'# verdict = "{verdict}"'


def guess(
    files: Sequence[str], folder: str, remote: str | None, *, suite: str | None = None
) -> Guess:
    """Return what a repository of these tracked files seems to hold. `folder`: the name of its own;
    `remote`: its address, if any. `suite`: the name of the product, else that of the repository.
    """
    *owners, name = re.split("[/:]", (remote or folder).rstrip("/"))
    name = name.removesuffix(".git")
    paths = [PurePosixPath(file) for file in files]
    tops = sorted({path.parts[0] for path in paths if len(path.parts) > 1})
    plain = [top for top in tops if _PLAIN.fullmatch(top) and not top.startswith(".")]
    harness = [top for top in plain if _HARNESS.fullmatch(top)]
    sources = {path.parts[0] for path in paths if path.suffix.lower() in _SOURCES}
    firmware = [top for top in plain if top in sources - set(harness) - _NEITHER]
    roots = [file for file in files if "/" not in file and _BUILDS.fullmatch(file)]
    manifests = [str(path) for path in paths if path.name == _MANIFEST]
    return Guess(
        suite=suite or name,
        owner=owners[-1] if owners and owners[-1] else name,
        repo_key=None if remote else name,
        firmware=[*_below(firmware), *roots],
        harness=[*_below(harness), *sorted(job.pattern for job in jobs_of(files))],
        manifests=[
            manifest for manifest in manifests if manifest.partition("/")[0] not in firmware
        ],
        twister=any(path.name in _TWISTER for path in paths),
    )


def _below(folders: Sequence[str]) -> list[str]:
    return [f"{folder}/**" for folder in folders]


def _list(name: str, patterns: Sequence[str]) -> Iterator[str]:
    yield f"{name} = ["
    yield from (f"  {_quoted(pattern)}," for pattern in patterns)
    if not patterns:
        yield '  # "folder/**",   nothing was found'
    yield "]"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
