# SPDX-License-Identifier: Apache-2.0
"""The first `hwci.toml` of a repository, guessed from the names of its files, and the CI job that
goes with it. No file is opened, and people correct the guess. What the file may hold is decided in
`hwci.ci.project`.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

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
_OF_CI = re.compile(
    r"(\.github/workflows/|\.circleci/|\.buildkite/|\.gitlab-ci\.yml$|Jenkinsfile$|"
    r"azure-pipelines\.yml$)"
)
_PLAIN = re.compile(r"[\w.+ -]+")
"""Other names would mean something in a pattern."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What a repository seems to hold. `repo_key`: only if neither CI nor git would name it."""

    suite: str
    repo_key: str | None
    firmware: Sequence[str]
    harness: Sequence[str]
    manifests: Sequence[str]

    @property
    def text(self) -> str:
        """The project file."""
        return "".join(f"{line}\n" if line else "\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield "# Which files are the firmware, and which test it. `hwci init` guessed it from the"
        yield "# names of the files: correct it, then run `hwci suite-config check`."
        yield ""
        if self.repo_key is not None:
            yield f"repo_key = {_quoted(self.repo_key)}   # as this clone has no remote"
        else:
            yield '# repo_key = "acme/firmware"   # without it, the name that CI or git has'
        yield ""
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


def guess(files: Sequence[str], name: str, repo_key: str | None) -> Guess:
    """Return what a repository of these tracked files seems to hold; `name`: the product's."""
    paths = [PurePosixPath(file) for file in files]
    tops = sorted({path.parts[0] for path in paths if len(path.parts) > 1})
    plain = [top for top in tops if _PLAIN.fullmatch(top) and not top.startswith(".")]
    harness = [top for top in plain if _HARNESS.fullmatch(top)]
    sources = {path.parts[0] for path in paths if path.suffix.lower() in _SOURCES}
    firmware = [top for top in plain if top in sources - set(harness) - _NEITHER]
    roots = [file for file in files if "/" not in file and _BUILDS.fullmatch(file)]
    manifests = [str(path) for path in paths if path.name == _MANIFEST]
    return Guess(
        suite=name,
        repo_key=repo_key,
        firmware=[*_below(firmware), *roots],
        harness=[*_below(harness), *sorted(set(_of_ci(files)))],
        manifests=[one for one in manifests if one.partition("/")[0] not in firmware],
    )


def _below(folders: Sequence[str]) -> list[str]:
    return [f"{folder}/**" for folder in folders]


def _of_ci(files: Sequence[str]) -> Iterator[str]:
    for found in filter(None, map(_OF_CI.match, files)):
        yield f"{found[0]}**" if found[0].endswith("/") else found[0]


def _list(name: str, patterns: Sequence[str]) -> Iterator[str]:
    yield f"{name} = ["
    yield from (f"  {_quoted(pattern)}," for pattern in patterns)
    if not patterns:
        yield '  # "folder/**",   nothing was found'
    yield "]"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_GITHUB = """\
# .github/workflows/hil.yml
name: hil
on:
  push:
  pull_request:
permissions:
  contents: read
  actions: read # to find the run before this one
env:
  HWCI_URL: {url}
  HWCI_CI_KEY: ${{{{ secrets.HWCI_CI_KEY }}}}
  HWCI_WHEEL: {wheel}
  GITHUB_TOKEN: ${{{{ github.token }}}}
jobs:
  announce:
    if: github.event_name == 'push'
    continue-on-error: true
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
        with:
          fetch-depth: 0
      - run: pipx run --spec="$HWCI_WHEEL" hwci merge-announce
  hil:
    runs-on: [self-hosted, bench-1]
    steps:
      - uses: actions/checkout@v5
        with:
          fetch-depth: 0
      - run: pipx run --spec="$HWCI_WHEEL" hwci exec --junit out.xml -- {tests} --junit-xml=out.xml
"""
_GITLAB = """\
# .gitlab-ci.yml; HWCI_CI_KEY is a masked variable of the project
variables:
  HWCI_URL: {url}
  HWCI_WHEEL: {wheel}
  GIT_DEPTH: "0"
announce:
  stage: .pre
  image: python:3.13
  allow_failure: true
  rules:
    - if: $CI_PIPELINE_SOURCE == "push" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    - pip install --quiet "$HWCI_WHEEL"
    - hwci merge-announce
hil:
  needs: []
  tags: [bench-1]
  script:
    - python3 -m venv .hwci
    - .hwci/bin/pip install --quiet "$HWCI_WHEEL"
    - .hwci/bin/hwci exec --junit out.xml -- {tests} --junit-xml=out.xml
"""
_OTHER = """\
# HWCI_CI_KEY is a secret of the CI. In a job that needs no hardware, on each push:
export HWCI_URL={url}
pipx run --spec="{wheel}" hwci merge-announce
# in the job at the bench:
pipx run --spec="{wheel}" hwci exec --box bench-1 --junit out.xml -- {tests} --junit-xml=out.xml
"""


def ci_job(files: Sequence[str], harness: Sequence[str], url: str, wheel: str) -> str:
    """Return the job to paste, in the words of the CI system whose files there are."""
    job = _OTHER
    if any(file.startswith(".github/workflows/") for file in files):
        job = _GITHUB
    elif ".gitlab-ci.yml" in files:
        job = _GITLAB
    folders = [one.removesuffix("/**") for one in harness if one.endswith("/**") and one[0] != "."]
    return job.format(url=url, wheel=wheel, tests=" ".join(["pytest", *folders[:1]]))
