# SPDX-License-Identifier: Apache-2.0
"""The lines of CI that fill a gap: those of the system that the reports tell, and as the jobs have
them that `hwci init` prints.
"""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from hwci.analysis.failures.ci_lines import lines_of, system_of
from hwci.ci.new_job import JOBS
from hwci.contract.ci_systems import CiSystem
from hwci.contract.vocabulary import Gap
from tests.ci.systems import CASES
from tests.support.clones import git

PAGES = {system: cases.pages for system, cases in CASES.items()}


@pytest.mark.parametrize("system", CiSystem)
def test_the_address_of_a_job_tells_its_system(system: CiSystem) -> None:
    for page in PAGES[system]:
        assert system_of(page) is system


@pytest.mark.parametrize("page", ["https://ci.acme.example/builds/7", "https://acme.example/", ""])
def test_another_address_tells_none_and_the_command_line_is_given(page: str) -> None:
    assert system_of(page) is None
    [paste] = lines_of(Gap.CUT_LISTS, [page])
    assert (paste.ci, paste.where) == (None, "In the job that tests")
    assert paste.lines == "git fetch --unshallow || true"


@pytest.mark.parametrize("gap", Gap)
@pytest.mark.parametrize("system", CiSystem)
def test_each_gap_has_lines_for_each_system(system: CiSystem, gap: Gap) -> None:
    pages = [page for name in (system, CiSystem.GITHUB) for page in PAGES[name]]
    pastes = lines_of(gap, pages)
    systems = [None] if gap is Gap.NO_VERDICT else [*dict.fromkeys((system, CiSystem.GITHUB))]
    assert [paste.ci for paste in pastes] == systems
    assert all(paste.lines and not paste.lines.endswith("\n") for paste in pastes)


@pytest.mark.parametrize("system", [CiSystem.GITHUB, CiSystem.GITLAB, CiSystem.AZURE])
def test_the_lines_are_those_of_the_job_that_init_prints(system: CiSystem) -> None:
    written = {line.strip().partition(" # ")[0] for line in JOBS[system].text.splitlines()}
    for gap in (Gap.NO_CHANGES, Gap.CUT_LISTS, Gap.UNCONNECTED_FIX):
        [paste] = lines_of(gap, PAGES[system])
        code = [line.strip().partition(" # ")[0] for line in paste.lines.splitlines()]
        assert {line for line in code if not line.startswith("#")} <= written


def test_the_rule_of_a_verdict_is_one_that_a_project_may_have() -> None:
    [paste] = lines_of(Gap.NO_VERDICT, PAGES[CiSystem.GITHUB])
    [rule] = tomllib.loads(paste.lines)["verdict"]
    assert set(rule) == {"message", "verdict"}
    assert rule["verdict"] == "device"


def test_a_token_of_buildkite_is_a_secret_whose_name_a_cluster_may_have() -> None:
    for gap in (Gap.NO_CHANGES, Gap.UNCONNECTED_FIX):
        [paste] = lines_of(gap, PAGES[CiSystem.BUILDKITE])
        [step] = yaml.safe_load(f"steps:\n  - key: hil\n{paste.lines}")["steps"]
        [(variable, name)] = step["secrets"].items()
        assert variable == "BUILDKITE_API_TOKEN"
        assert not name.lower().startswith(("buildkite", "bk"))


def test_a_shell_of_jenkins_fetches_with_the_credential_of_the_clone() -> None:
    [paste] = lines_of(Gap.CUT_LISTS, PAGES[CiSystem.JENKINS])
    code = [line for line in paste.lines.splitlines() if not line.startswith("//")]
    assert code[0] == "withCredentials([gitUsernamePassword(credentialsId: 'git')]) {"
    assert (code[-1], len(code)) == ("}", 3)


SHELLS = [CiSystem.BUILDKITE, CiSystem.CIRCLECI, CiSystem.JENKINS, None]


@pytest.mark.parametrize("system", SHELLS)
def test_the_line_of_a_shell_completes_a_shallow_clone_and_takes_a_whole_one(
    system: CiSystem | None, tmp_path: Path
) -> None:
    [paste] = lines_of(Gap.CUT_LISTS, PAGES[system] if system else [])
    [command] = re.findall(r"git fetch [^']*", paste.lines)
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    git(origin, "init", "-q")
    for number in range(3):
        git(origin, "commit", "-q", "--allow-empty", "-m", str(number))
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{origin}", str(clone))
    assert git(clone, "rev-list", "--count", "HEAD").strip() == "1"
    for _ in range(2):
        subprocess.run(["bash", "-e", "-c", command], cwd=clone, check=True, capture_output=True)
        assert git(clone, "rev-list", "--count", "HEAD").strip() == "3"
