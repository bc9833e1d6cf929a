# SPDX-License-Identifier: Apache-2.0
"""The jobs that `hwci init` prints, and a bench that runs them as their CI systems do: with the
shell that the system takes, and with a real pip in real environments.
"""

import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Mapping
from contextlib import chdir
from pathlib import Path

from hwci.ci.new_job import JOBS
from tests.ci.systems import CASES
from tests.ci.systems.cases import Jobs, Runner
from tests.cli.conftest import Command
from tests.cli.jobs import git, repository
from tests.support.recorded import recorded
from tests.support.soak import rounds


def shell(text: str) -> Jobs:
    announce, hil = text.split("# in the job at the bench:\n")
    install, tests = hil.split("# Install here")
    return {"announce": [announce], "hil": [install, f"# Install here{tests}"]}, {}


SYSTEMS = {
    JOBS[name].pattern.replace("**", "ci.yml"): cases.runner for name, cases in CASES.items()
} | {"src/a.c": Runner(shell, "gitlab-push", ("sh", "-eu"), one_shell=True)}
"""By a file that a system has in the repository; any other repository gets lines of a shell."""

SOME_SYSTEMS = rounds((".gitlab-ci.yml", "azure-pipelines.yml", "Jenkinsfile"), tuple(SYSTEMS))
"""Three of them, with three shells; in `make soak` all."""
ONE_SYSTEM = rounds((".gitlab-ci.yml",), tuple(SYSTEMS))
"""For what does not depend on the file of a system; in `make soak` all."""

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

    def __init__(self, folder: Path, runner: Runner, text: str, **variables: str) -> None:
        self.checkout = folder / "checkout"
        self.jobs, variables_of_jobs = runner.read(text)
        self._runner = runner
        tools = folder / "tools"
        tools.mkdir()
        (tools / "python3").write_text(PYTHON3)
        (tools / "python3").chmod(0o755)
        self.pause = folder / "pause"
        (self.checkout / "hil" / "test_a.py").write_text(TESTS)
        git(self.checkout, "commit", "-q", "-a", "-m", "Tests")
        self.sha = git(self.checkout, "rev-parse", "HEAD")
        self.environ = {
            **recorded(runner.recording),
            "PATH": f"{tools}:/usr/bin:/bin",
            "HOME": str(folder),
            "PIP_NO_INDEX": "1",
            "PIP_NO_COMPILE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # the libraries are those of an hwci, too
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            **{name: value for name, value in variables_of_jobs.items() if "${{" not in value},
            "HWCI_REPO_KEY": f"of/{runner.read.__name__}",
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
        for script in ["\n".join(steps)] if self._runner.one_shell else steps:
            code, more = self._run(script, between or in_tests, self.environ | variables)
            printed += more
            if code:
                return code, printed
        return 0, printed

    def _run(
        self, script: str, happens: Callable[[], None] | None, environ: Mapping[str, str]
    ) -> tuple[int, str]:
        with subprocess.Popen(
            [*self._runner.shell, "-c", script],
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
