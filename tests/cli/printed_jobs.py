# SPDX-License-Identifier: Apache-2.0
"""The jobs that `hwci init` prints, read as their CI systems read them, and a bench that runs them:
with the shell that the system takes, and with a real pip in real environments.
"""

import re
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.cli.conftest import Command
from tests.cli.jobs import git, repository
from tests.examples.reading import stages
from tests.support.recorded import recorded
from tests.support.soak import rounds

Jobs = tuple[dict[str, list[str]], dict[str, str]]
"""The steps of each job, and the variables that all have."""


def _steps(of_job: Sequence[Any]) -> list[str]:
    """Return what the steps of a job run."""
    steps = [step for step in of_job if isinstance(step, dict)]
    return [script for step in steps if (script := step.get("run") or step.get("script"))]


def github(text: str) -> Jobs:
    file = yaml.safe_load(text)
    return {name: _steps(job["steps"]) for name, job in file["jobs"].items()}, file["env"]


def gitlab(text: str) -> Jobs:
    file = yaml.safe_load(text)
    return {name: file[name]["script"] for name in ("announce", "hil")}, file["variables"]


def buildkite(text: str) -> Jobs:
    file = yaml.safe_load(text)
    assert file["secrets"] == ["HWCI_CI_KEY"]  # a cluster gives a job no other secret
    jobs = {
        step["key"]: [line.replace("$$", "$") for line in step["command"]] for step in file["steps"]
    }
    assert "$" not in text.replace("$$", "")  # it would be the agent's at the upload
    return jobs, file["env"]


def circleci(text: str) -> Jobs:
    jobs = yaml.safe_load(text)["jobs"]
    given = jobs["hil"]["environment"]
    assert given == jobs["announce"]["environment"] | {"HWCI_BOX": "bench-1"}
    passed_on = {"HWCI_TRIGGER": "webhook", "HWCI_BEFORE_SHA": ""}
    return {name: _steps(job["steps"]) for name, job in jobs.items()}, given | passed_on


def azure(text: str) -> Jobs:
    file = yaml.safe_load(text)
    last = [job["steps"][-1] for job in file["jobs"]]
    assert [step["env"]["HWCI_CI_KEY"] for step in last] == ["$(HWCI_CI_KEY)"] * 2
    return {job["job"]: _steps(job["steps"]) for job in file["jobs"]}, file["variables"]


def jenkins(text: str) -> Jobs:
    [push] = stages(text).values()
    scripts = re.compile(r"sh '''(.*?)'''|sh '([^'\n]+)'", re.DOTALL)
    jobs = {
        name.lower(): ["".join(script) for script in scripts.findall(stage)]
        for name, stage in stages(push).items()
    }
    given = dict(re.findall(r"(HWCI_\w+) = '(.*)'", text))
    assert "HWCI_TRIGGER = trigger()" in text
    return jobs, given | {"HWCI_TRIGGER": "merge"}


def shell(text: str) -> Jobs:
    announce, hil = text.split("# in the job at the bench:\n")
    install, tests = hil.split("# Install here")
    return {"announce": [announce], "hil": [install, f"# Install here{tests}"]}, {}


class System(NamedTuple):
    """A CI system: how its file is read, a recorded environment, the shell of its steps, and
    whether all steps of a job share one.
    """

    read: Callable[[str], Jobs]
    environment: str
    shell: tuple[str, ...]
    one_shell: bool = False


SYSTEMS = {
    ".github/workflows/ci.yml": System(github, "github-push", ("bash", "-e")),
    ".gitlab-ci.yml": System(gitlab, "gitlab-push", ("bash", "-eo", "pipefail"), one_shell=True),
    ".buildkite/pipeline.yml": System(
        buildkite, "buildkite-webhook", ("bash", "-e"), one_shell=True
    ),
    ".circleci/config.yml": System(circleci, "circleci-push", ("bash", "-eo", "pipefail")),
    "azure-pipelines.yml": System(azure, "azure-ci", ("bash", "--noprofile", "--norc")),
    "Jenkinsfile": System(jenkins, "jenkins-multibranch", ("sh", "-xe")),
    "src/a.c": System(shell, "gitlab-push", ("sh", "-eu"), one_shell=True),
}
"""By a file that a system has in the repository; any other repository gets lines of a shell."""

SOME_SYSTEMS = rounds((".gitlab-ci.yml", "azure-pipelines.yml", "Jenkinsfile"), tuple(SYSTEMS))
"""What does not depend on the file of a system is tried with three shells, and in `make soak` with
all.
"""

TESTS = """\
import os, pathlib, time
def test_a():
    place = os.environ.get("PAUSED_IN_TESTS")
    if place:
        pathlib.Path(place).touch()
        while pathlib.Path(place).exists():
            time.sleep(0.02)
def test_b():
    assert False
"""
"""Tests of which one fails, and which wait, if asked, until their file is gone."""
SITE = Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
PYTHON3 = f"""#!/bin/sh
"{sys.executable}" -m venv --without-pip "$3" || exit
echo '{sysconfig.get_path("purelib")}' > "$3/{SITE}/of_the_machine.pth"
bin="$(realpath "$3")/bin"
cat > "$bin/pip" <<END
#!/bin/sh
if [ "\\$*" = "install --quiet pytest" ]; then
  printf '#!/bin/sh\\nexec "$bin/python" -m pytest "\\$@"\\n' > "$bin/pytest"
  chmod +x "$bin/pytest"
else
  exec "$bin/python" -m pip "\\$@"
fi
END
chmod +x "$bin/pip"
"""
"""A `python3` whose environments have the libraries of hwci and a pip, but no hwci, and no pytest
before it is installed.
"""


class PrintedBench:
    """A machine that runs the printed jobs of a repository. `checkout`: where it has it."""

    def __init__(self, folder: Path, system: System, text: str, **variables: str) -> None:
        self.checkout = folder / "checkout"
        self.jobs, given = system.read(text)
        self._system = system
        tools = folder / "tools"
        tools.mkdir()
        (tools / "python3").write_text(PYTHON3)
        (tools / "python3").chmod(0o755)
        self.pause = folder / "pause"
        (self.checkout / "hil" / "test_a.py").write_text(TESTS)
        git(self.checkout, "commit", "-q", "-a", "-m", "Tests")
        self.sha = git(self.checkout, "rev-parse", "HEAD")
        self.environ = {
            **recorded(system.environment),
            "PATH": f"{tools}:/usr/bin:/bin",
            "HOME": str(folder),
            "PIP_NO_INDEX": "1",
            "PIP_NO_COMPILE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # the libraries are those of an hwci, too
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            **{name: value for name, value in given.items() if "${{" not in value},
            "HWCI_REPO_KEY": f"of/{system.read.__name__}",
            "HWCI_SHA": self.sha,
            "HWCI_DEADLINE": "0",
            **variables,
        }

    @property
    def hwci(self) -> Path:
        """Where a job installs the command."""
        return self.checkout.parent / ".hwci" / "bin" / "hwci"

    def run(
        self,
        job: str,
        *,
        between: Callable[[], None] | None = None,
        in_tests: Callable[[], None] | None = None,
        **variables: str,
    ) -> tuple[int, str]:
        """Run a job; return its exit code, and what it printed. `between` its steps, or `in_tests`,
        something happens.
        """
        steps = list(self.jobs[job])
        if between is not None:
            steps.insert(
                -1, f'touch "{self.pause}"; while [ -e "{self.pause}" ]; do sleep 0.02; done'
            )
        if in_tests is not None:
            variables["PAUSED_IN_TESTS"] = str(self.pause)
        printed = ""
        for script in ["\n".join(steps)] if self._system.one_shell else steps:
            code, more = self._run(script, between or in_tests, self.environ | variables)
            printed += more
            if code:
                return code, printed
        return 0, printed

    def _run(
        self, script: str, happens: Callable[[], None] | None, environ: Mapping[str, str]
    ) -> tuple[int, str]:
        with subprocess.Popen(
            [*self._system.shell, "-c", script],
            cwd=self.checkout,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            while happens is not None and process.poll() is None:
                if self.pause.exists():
                    happens()
                    self.pause.unlink()
                    break
                time.sleep(0.02)
            printed, _ = process.communicate(timeout=120)
        return process.returncode, printed


def printed(cli: Command, folder: Path, file: str, url: str, key: str) -> PrintedBench:
    """Return a bench that has what `hwci init` prints in a repository with this file."""
    checkout = folder / "checkout"
    repository(checkout, "hil/test_a.py", file)
    with chdir(checkout):
        done = cli("init", "--suite", "sensor-fw", HWCI_URL=url)
    assert done.code == 0, done.err
    return PrintedBench(folder, SYSTEMS[file], done.out, HWCI_CI_KEY=key)
