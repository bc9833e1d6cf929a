# SPDX-License-Identifier: Apache-2.0
"""The CI job that `hwci init` prints: the whole file of a CI system, to paste or to merge into the
one that is there. It announces merges from a machine without hardware, and tests at the bench. The
texts are in `jobs`, with `{NAME}` for what differs. Which fields hwci finds in the job is decided
in `hwci.ci.systems`.
"""

import re
from collections.abc import Sequence
from importlib.resources import files as files_of
from textwrap import indent
from typing import NamedTuple

from hwci.contract.vocabulary import CiSystem

_HWCI = "../.hwci/bin/hwci"
"""Beside the checkout, which a CI system empties before each job."""
_INSTALL = (
    "python3 -m venv ../.hwci &&"
    ' ../.hwci/bin/pip install --quiet --retries 1 --timeout 10 "$HWCI_WHEEL"'
)
_INSTALL_OR_GO_ON = f"""\
{_INSTALL} ||
  echo "hwci is not installed anew (no answer, or another hash). The tests run all the same." >&2
"""
_TESTS = f"""\
set -- {{command}} # the tests
if {_HWCI} --version; then
  set -- {_HWCI} exec --junit {{results}} -- "$@"
else
  echo "hwci is not here: this run is not reported. Run the job again, or report it by hand:" >&2
  echo "hwci report-run --sha $(git rev-parse HEAD) --box NAME --junit {{results}}" >&2
fi
"$@"
"""
"""A job tests whatever becomes of the report: its exit code is that of the tests."""
_INSTALL_PYTEST = """\
[ -x ../.hwci/bin/pytest ] || ../.hwci/bin/pip install --quiet pytest
"""
_NEEDS = "Install here what else the tests need"
_PYTEST = {
    "install_or_go_on": _INSTALL_OR_GO_ON + _INSTALL_PYTEST,
    "needs": f"{_NEEDS}: packages of requirements.txt, the flash tool.",
    "command": "../.hwci/bin/pytest{in_folder} --junit-xml=out.xml",
    "results": "out.xml",
}
_TWISTER = {
    "install_or_go_on": _INSTALL_OR_GO_ON,
    "needs": f"{_NEEDS}: west, the packages of Zephyr, the flash tool. The map names the boards.",
    "command": "west twister -T {folder} --device-testing --hardware-map map.yml",
    "results": "twister-out/twister.json",
}


class CiJob(NamedTuple):
    """A job to paste, by its file; `pattern`: which files the CI system has in a repository;
    `host`: what is in the address of a repository that it is a part of; `dollar`: how the system
    wants the dollar of a shell.
    """

    pattern: str
    file: str
    host: str | None = None
    dollar: str = "$"

    @property
    def text(self) -> str:
        """The job, with names for what differs."""
        return _text_of(self.file)

    def is_of(self, files: Sequence[str]) -> bool:
        """Return whether a repository of these files uses the system."""
        folder = self.pattern.removesuffix("**")
        return self.pattern in files or (
            folder != self.pattern and any(file.startswith(folder) for file in files)
        )


JOBS = {
    CiSystem.GITHUB: CiJob(".github/workflows/**", "github.yml", "github.com"),
    CiSystem.GITLAB: CiJob(".gitlab-ci.yml", "gitlab.yml", "gitlab"),
    CiSystem.BUILDKITE: CiJob(".buildkite/**", "buildkite.yml", dollar="$$"),
    CiSystem.CIRCLECI: CiJob(".circleci/**", "circleci.yml"),
    CiSystem.AZURE: CiJob("azure-pipelines.yml", "azure.yml"),
    CiSystem.JENKINS: CiJob("Jenkinsfile", "jenkins.groovy"),
}


def jobs_of(files: Sequence[str]) -> list[CiJob]:
    """Return the jobs of the CI systems that a repository of these tracked files uses."""
    return [job for job in JOBS.values() if job.is_of(files)]


def job_for(files: Sequence[str], remote: str | None) -> CiJob | None:
    """Return the job of the first CI system whose files there are, else that of the site of the
    repository.
    """
    host = re.sub(r"^\w+://", "", remote or "").rpartition("@")[2]
    host = re.split("[:/]", host)[0]
    hosted = (job for job in JOBS.values() if job.host and job.host in host)
    return next(iter(jobs_of(files)), None) or next(hosted, None)


def job_text(
    job: CiJob | None,
    harness: Sequence[str],
    url: str,
    wheel: str,
    *,
    main: str = "main",
    twister: bool = False,
) -> str:
    """Return the job to paste; None: lines of a shell. `main`: the default branch; `twister`: it
    runs the tests, not pytest.
    """
    folders = [one.removesuffix("/**") for one in harness if one.endswith("/**") and one[0] != "."]
    values = {
        "install": _INSTALL,
        "tests": _TESTS,
        **(_TWISTER if twister else _PYTEST),
        "in_folder": "".join(f" {folder}" for folder in folders[:1]),
        "folder": next(iter(folders), "."),
        "hwci": _HWCI,
        "reach": "it must reach HWCI_URL, else take a machine of your own",
        "box": "`hwci exec --box` names the box, else the",
        "url": url,
        "wheel": wheel,
        "main": main,
    }
    text = job.text if job else _text_of("other.sh")
    dollar = job.dollar if job else "$"
    for name, value in values.items():
        text = _filled(text, name, value.replace("$", dollar))
    return text


def _filled(text: str, name: str, value: str) -> str:
    """Return the text with the value in place of its name; a line of a name alone takes several."""

    def lines(place: re.Match[str]) -> str:
        return indent(value.rstrip("\n"), place[1])

    text = re.sub(rf"^( *)\{{{name}\}}$", lines, text, flags=re.MULTILINE)
    return text.replace(f"{{{name}}}", value)


def _text_of(file: str) -> str:
    return files_of("hwci.ci").joinpath("jobs", file).read_text("utf-8")
