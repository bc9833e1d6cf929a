# SPDX-License-Identifier: Apache-2.0
"""The CI job that `hwci init` prints: the whole file of a CI system, to paste or to merge into the
one that is there. It announces merges from a machine without hardware, and tests at the bench. The
texts are in `jobs`, with `{NAME}` for what differs. Which fields hwci finds in the job is decided
in `hwci.ci.systems`.
"""

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files as files_of
from typing import NamedTuple

from hwci.engine.vocabulary import CiSystem

_ENVIRONMENT = "~/.hwci"
"""On a bench it outlives the checkout, which most CI systems clean."""
_BIN = f"{_ENVIRONMENT}/bin"
_INSTALL = (
    f'{_BIN}/pip freeze 2> /dev/null | grep -F "$HWCI_WHEEL" ||'
    f" {{ python3 -m venv {_ENVIRONMENT} &&"
    f' {_BIN}/pip install --quiet --retries 1 "$HWCI_WHEEL"; }} ||'
    ' echo "hwci is not installed now, so what was installed before reports, if anything." >&2'
)
"""It asks the server for a wheel that is not there yet only, and fails no job."""
_EXEC = f"$({_BIN}/hwci --version > /dev/null && echo {_BIN}/hwci exec"
_TESTS = (
    '--junit {results} -- || echo "The tests run unreported, as there is no hwci.'
    ' Before the next job, hwci report-run --junit {results} in this folder reports them." >&2)'
    " {command}"
)
"""Ends `_EXEC`: without hwci, what is left of the line are the tests alone."""
_NEEDS = "Install here what the tests need"
_PYTEST = {
    "needs": f"{_NEEDS}, as with {_BIN}/pip install pytest, and the flash tool.",
    "results": "out.xml",
    "command": f"{_BIN}/pytest{{in_folder}} --junit-xml=out.xml",
}
_TWISTER = {
    "needs": f"{_NEEDS}: west, the packages of Zephyr, the flash tool. The map names the boards.",
    "results": "twister-out/twister.json",
    "command": "west twister -T {folder} --device-testing --hardware-map map.yml",
}


class CiJob(NamedTuple):
    """A job to paste, by its file; `pattern`: which files the CI system has in a repository;
    `host`: what is in the address of a repository that it is a part of; `dollar`: how the file
    writes a dollar of its shell.
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
    job: CiJob | None, harness: Sequence[str], url: str, wheel: str, *, twister: bool = False
) -> str:
    """Return the job to paste; None: lines of a shell. `twister`: it runs the tests, not pytest."""
    folders = [one.removesuffix("/**") for one in harness if one.endswith("/**") and one[0] != "."]
    at = {
        "in_folder": "".join(f" {one}" for one in folders[:1]),
        "folder": next(iter(folders), "."),
    }
    tool = _TWISTER if twister else _PYTEST
    shell = {
        "install": _INSTALL,
        "hwci": f"{_BIN}/hwci",
        "exec": _EXEC,
        "tests": _filled(_TESTS, {**tool, **at}),
    }
    if job is not None:
        shell = {name: line.replace("$", job.dollar) for name, line in shell.items()}
    values = {
        "url": url,
        "wheel": wheel,
        "reach": "it must reach HWCI_URL, else take a machine of your own",
        "box": "`hwci exec --box` names the box, else the",
        "needs": tool["needs"],
    }
    return _filled(job.text if job else _text_of("other.sh"), {**values, **shell})


def _filled(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _text_of(file: str) -> str:
    return files_of("hwci.ci").joinpath("jobs", file).read_text("utf-8")
