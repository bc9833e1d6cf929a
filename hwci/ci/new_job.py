# SPDX-License-Identifier: Apache-2.0
"""The CI job that `hwci init` prints: the whole file of a CI system, to paste or to merge into the
one that is there. It announces merges from a machine without hardware, and tests at the bench. The
text of each system is in `hwci.ci.systems`, with `{NAME}` for what differs, which is decided here.
"""

import re
from collections.abc import Sequence
from textwrap import indent

from hwci.ci.systems import SYSTEMS
from hwci.ci.systems.system import PrintedJob

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
_INSTALL_WEST = """\
[ -x ../.hwci/bin/west ] || ../.hwci/bin/pip install --quiet west || true # for west.yml
"""
_NEEDS = "Install here what else the tests need"
_PYTEST = {
    "install_or_go_on": _INSTALL_OR_GO_ON + _INSTALL_PYTEST,
    "needs": f"{_NEEDS}: packages of requirements.txt, the flash tool.",
    "command": "../.hwci/bin/pytest{in_folder} --junit-xml=out.xml",
    "results": "out.xml",
}
_TWISTER = {
    "install_or_go_on": _INSTALL_OR_GO_ON + _INSTALL_WEST,
    "needs": f"{_NEEDS}: west, the packages of Zephyr, the flash tool. The map names the boards.",
    "command": "west twister -T {folder} --device-testing --hardware-map map.yml",
    "results": "twister-out/twister.json",
}


_ANY_SHELL = """\
# HWCI_CI_KEY is a secret of the CI. In a job that needs no hardware, on each push:
export HWCI_URL={url} HWCI_WHEEL="{wheel}"
{install} && {hwci} merge-announce || echo "The merge is not announced." >&2
# in the job at the bench:
export HWCI_URL={url} HWCI_WHEEL="{wheel}" HWCI_BOX=bench-1
{install_or_go_on}
# {needs}
{tests}
"""
"""The lines of a shell, for a CI system that hwci does not know."""

JOBS = {system.name: system.job for system in SYSTEMS}


def jobs_of(files: Sequence[str]) -> list[PrintedJob]:
    """Return the jobs of the CI systems that a repository of these tracked files uses."""
    return [job for job in JOBS.values() if job.is_of(files)]


def job_for(files: Sequence[str], remote: str | None) -> PrintedJob | None:
    """Return the job of the first CI system whose files there are, else that of the site of the
    repository.
    """
    host = re.sub(r"^\w+://", "", remote or "").rpartition("@")[2]
    host = re.split("[:/]", host)[0]
    hosted = (job for job in JOBS.values() if job.host and job.host in host)
    return next(iter(jobs_of(files)), None) or next(hosted, None)


def job_text(
    job: PrintedJob | None,
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
    folders = [
        path.removesuffix("/**") for path in harness if path.endswith("/**") and path[0] != "."
    ]
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
    text = job.text if job else _ANY_SHELL
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
