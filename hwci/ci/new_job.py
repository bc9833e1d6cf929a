# SPDX-License-Identifier: Apache-2.0
"""The CI job that `hwci init` prints: the whole file of a CI system, to paste or to merge into the
one that is there. It announces merges from a machine without hardware, and tests at the bench. The
texts are in `jobs`, with `{NAME}` for what differs. Which fields hwci finds in the job is decided
in `hwci.ci.systems`.
"""

import re
from collections.abc import Sequence
from importlib.resources import files as files_of
from typing import NamedTuple

from hwci.engine.vocabulary import CiSystem

_NEEDS = "Install here what the tests need"
_PYTEST = {
    "needs": f"{_NEEDS}, as with .hwci/bin/pip install pytest, and the flash tool.",
    "tests": "--junit out.xml -- .hwci/bin/pytest{in_folder} --junit-xml=out.xml",
}
_TWISTER = {
    "needs": f"{_NEEDS}: west, the packages of Zephyr, the flash tool. The map names the boards.",
    "tests": "--junit twister-out/twister.json --"
    " west twister -T {folder} --device-testing --hardware-map map.yml",
}


class CiJob(NamedTuple):
    """A job to paste, by its file; `pattern`: which files the CI system has in a repository;
    `host`: what is in the address of a repository that it is a part of.
    """

    pattern: str
    file: str
    host: str | None = None

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
    CiSystem.BUILDKITE: CiJob(".buildkite/**", "buildkite.yml"),
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
    values = {
        "url": url,
        "wheel": wheel,
        "install": "python3 -m venv .hwci && .hwci/bin/pip install --quiet",
        "hwci": ".hwci/bin/hwci",
        "reach": "it must reach HWCI_URL, else take a machine of your own",
        "box": "`hwci exec --box` names the box, else the",
        **(_TWISTER if twister else _PYTEST),
        "in_folder": "".join(f" {one}" for one in folders[:1]),
        "folder": next(iter(folders), "."),
    }
    text = job.text if job else _text_of("other.sh")
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _text_of(file: str) -> str:
    return files_of("hwci.ci").joinpath("jobs", file).read_text("utf-8")
