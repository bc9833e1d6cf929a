# SPDX-License-Identifier: Apache-2.0
"""`hwci init`: the first `hwci.toml` of a repository, and what it prints to go on."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from hwci.ci.new_job import JOBS, job_text
from hwci.cli.commands.init import SERVE
from hwci.contract.ci_systems import CiSystem, SigningSystem
from tests.cli.conftest import Command
from tests.cli.jobs import git, repository
from tests.examples.reading import accepted
from tests.support.answering import unused_url

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "ci"
ZEPHYR = (
    "app/src/main.c",
    "app/west.yml",
    "drivers/relay.c",
    "tests/hil/test_boot.py",
    "docs/relay.c",
    "odd[1]/a.c",
    "CMakeLists.txt",
)


def test_the_file_holds_what_the_folders_say_and_passes_the_check(
    cli: Command, tmp_path: Path
) -> None:
    path = repository(tmp_path, *ZEPHYR, "west.yml", remote="git@github.com:acme/sensor-node.git")
    done = cli("init")
    [product] = tomllib.loads(path.read_text())["product"]

    assert done.code == 0, done.err
    assert product == {
        "suite": "sensor-node",
        "firmware_paths": ["app/**", "drivers/**", "CMakeLists.txt", "west.yml"],
        "harness_paths": ["tests/**"],
        "targets": {"merges_checked": 95, "infra_runs": 5},
    }
    assert done.err.splitlines()[-1] == "Next: hwci suite-config check"
    checked = cli("suite-config", "check")
    assert (checked.code, "warning" in checked.err) == (0, False), checked.err


def test_a_file_that_is_there_is_never_overwritten(cli: Command, tmp_path: Path) -> None:
    path = repository(tmp_path, "src/a.c")
    path.write_text("# mine\n")
    done = cli("init")

    assert (done.code, done.out) == (1, "")
    assert f"{path} is there" in done.err
    assert path.read_text() == "# mine\n"


@pytest.mark.parametrize("ci", CiSystem)
def test_the_job_of_a_named_ci_is_printed_whether_or_not_the_file_is_there(
    cli: Command, tmp_path: Path, ci: CiSystem
) -> None:
    path = repository(tmp_path, ".github/workflows/ci.yml", "tests/a.py")
    first = cli("init", "--ci", ci)
    path.write_text("# mine\n")
    again = cli("init", "--ci", ci)

    assert (first.code, again.code) == (0, 0), first.err + again.err
    assert first.out == again.out
    assert JOBS[ci].text.splitlines()[0] == first.out.splitlines()[0]
    assert path.read_text() == "# mine\n"
    assert ("is written" in first.err, "is written" in again.err) == (True, False)


@pytest.mark.parametrize(
    ("remote", "first"),
    [
        ("git@github.com:acme/fw.git", "# .github/workflows/hil.yml;"),
        ("https://user@gitlab.acme.example/github.com/fw", "# .gitlab-ci.yml;"),
        ("https://git.acme.example/gitlab/fw", "# HWCI_CI_KEY is a secret of the CI."),
    ],
)
def test_without_files_of_a_ci_the_site_of_the_repository_decides(
    cli: Command, tmp_path: Path, remote: str, first: str
) -> None:
    repository(tmp_path, "src/a.c", remote=remote)

    assert cli("init").out.startswith(first)


@pytest.mark.parametrize("ci", CiSystem)
def test_a_job_that_can_sign_in_is_told_how_it_does_without_the_secret(
    cli: Command, tmp_path: Path, ci: CiSystem
) -> None:
    repository(tmp_path, "src/a.c")

    told = cli("init", "--ci", ci).err

    assert ("hwci trusts create --help" in told) is (ci in {*SigningSystem})


def test_the_file_names_its_schema_at_a_server_that_others_reach(
    cli: Command, tmp_path: Path
) -> None:
    path = repository(tmp_path, "src/a.c")
    first = {}
    for url in ("", "http://127.0.0.1:1", "https://hwci.invalid/of/acme/"):
        path.unlink(missing_ok=True)
        assert cli("init", *(["--url", url] if url else [])).code == 0
        first[url] = path.read_text().splitlines()[0]

    assert first.pop("https://hwci.invalid/of/acme/") == (
        "#:schema https://hwci.invalid/of/acme/api/hwci.schema.json"
    )
    assert not any(line.startswith("#:") for line in first.values())


def test_an_address_of_this_machine_only_is_noted(cli: Command, tmp_path: Path) -> None:
    path = repository(tmp_path, "src/a.c")
    noted = []
    for url in ("http://localhost:1", "http://127.0.0.1:1", "https://hwci.invalid"):
        path.unlink(missing_ok=True)
        err = cli("init", "--url", url).err
        noted.append("A runner on another machine cannot reach" in err)
        assert f"warning: No hwci answers at {url}" in err
    assert noted == [True, True, False]


def test_the_printed_server_for_other_machines_listens_there_with_tls() -> None:
    variable, program, *words = SERVE.split()
    given = accepted(words).params

    assert (variable, program) == ("HWCI_BASE_URL=https://NAME", "hwci")
    assert (given["host"], given["port"]) == ("0.0.0.0", 443)
    assert None not in {given["tls_cert"], given["tls_key"]}


def test_where_no_server_answers_the_job_names_no_other_host(cli: Command, tmp_path: Path) -> None:
    repository(tmp_path, "src/a.c")
    url = unused_url()
    done = cli("init", "--ci", "github", "--url", url)

    assert (done.code, f"HWCI_WHEEL: {url}/dist/…" in done.out) == (0, True)
    assert "example.org" not in done.out + done.err
    assert done.err.splitlines()[-2:] == [
        "Commit hwci.toml and the job.",
        "Next: hwci suite-config check",
    ]


@pytest.mark.parametrize("ci", CiSystem)
def test_the_job_says_what_the_first_job_must_reach_and_how_the_box_is_named(ci: CiSystem) -> None:
    text = job_text(JOBS[ci], [], "", "")

    assert ("must reach HWCI_URL" in text) == (
        ci != CiSystem.JENKINS
    )  # which takes no cloud machine
    assert ("HWCI_BOX: bench-1" in text) == (ci == CiSystem.CIRCLECI)
    assert ("`hwci exec --box` names the box, else the" in text) == (ci != CiSystem.CIRCLECI)


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("hil/a.py", "set -- ../.hwci/bin/pytest hil --junit-xml=out.xml #"),
        (
            "hil/boot/testcase.yaml",
            "set -- west twister -T hil --device-testing --hardware-map map.yml #",
        ),
        ("src/a.c", "set -- ../.hwci/bin/pytest --junit-xml=out.xml #"),
        ("odd/sample.yaml", "-- west twister -T . --device-testing"),
    ],
)
def test_the_job_runs_twister_where_its_files_are_and_pytest_else(
    cli: Command, tmp_path: Path, file: str, command: str
) -> None:
    repository(tmp_path, file)

    assert command in cli("init").out


def test_a_pushed_branch_of_a_pull_request_runs_once_on_github() -> None:
    on = yaml.safe_load(job_text(JOBS[CiSystem.GITHUB], [], "", ""))[True]  # YAML's word for "on"

    assert on == {"push": {"branches": ["main"]}, "pull_request": None, "merge_group": None}


@pytest.mark.parametrize("ci", ["github", "circleci", "azure"])
def test_the_job_is_for_the_branch_that_the_repository_has(
    cli: Command, tmp_path: Path, ci: str
) -> None:
    repository(tmp_path, "src/a.c")
    git(tmp_path, "branch", "-m", "trunk")
    text = cli("init", "--ci", ci).out

    assert re.search(r"(branches|include|only): \[?trunk\b", text)
    assert "main]" not in text


def test_the_systems_that_there_is_a_job_for_are_named_with_the_command(
    cli: Command, tmp_path: Path
) -> None:
    repository(tmp_path, "src/a.c")
    for done in (cli("init"), cli("init")):
        assert f"hwci init --ci github (or {', '.join(list(CiSystem)[1:])})" in done.err


@pytest.mark.parametrize("ci", CiSystem)
def test_the_job_installs_pytest_and_says_where_all_else_is_installed(ci: CiSystem) -> None:
    lines = job_text(JOBS[ci], [], "", "").splitlines()
    at = next(number for number, line in enumerate(lines) if line.endswith("# the tests"))

    assert any("pip install --quiet pytest" in line for line in lines[:at])
    said = r" *(#|//) Install here what else the tests need"
    assert any(re.match(said, line) for line in lines[at - 2 : at])
    assert "pytest" not in job_text(JOBS[ci], [], "", "", twister=True)


ASKED = {
    CiSystem.GITHUB: r"\$\{\{.*?\}\}",
    CiSystem.GITLAB: r"if: .*",
    CiSystem.BUILDKITE: r"if: .*",
    CiSystem.CIRCLECI: r"<<.*?>>",
    CiSystem.AZURE: r"condition: in.*|\$\([A-Z]\w+\.?\w*\)",
    CiSystem.JENKINS: r"(?s)^def trigger.*?^}",
}
"""What a job asks of its CI system: when it runs, and what is in no variable."""


@pytest.mark.parametrize("ci", ASKED)
def test_a_job_asks_its_ci_what_the_longer_example_asks(ci: CiSystem) -> None:
    wrapped = {CiSystem.GITHUB: ["action.yml"], CiSystem.GITLAB: ["templates/hwci.yml"]}
    files = [*(EXAMPLES / ci).iterdir(), *(ROOT / name for name in wrapped.get(ci, []))]
    example = "\n".join(file.read_text() for file in files if file.is_file())
    asked = re.findall(ASKED[ci], JOBS[ci].text, re.MULTILINE)

    assert asked
    assert [question for question in asked if question not in example] == []


def test_each_longer_example_is_compared() -> None:
    assert {path.name for path in EXAMPLES.iterdir() if path.is_dir()} == set(ASKED)


def test_a_repository_that_shows_nothing_gets_a_file_to_fill_in(
    cli: Command, tmp_path: Path
) -> None:
    path = repository(tmp_path, "README.md")

    assert cli("init", "--suite", 'a "b"\\c').code == 0
    file = tomllib.loads(path.read_text())
    assert (file["repo_key"], file["product"][0]["suite"]) == (tmp_path.name, 'a "b"\\c')


def test_the_example_of_a_verdict_rule_is_valid_as_it_stands(cli: Command, tmp_path: Path) -> None:
    path = repository(tmp_path, *ZEPHYR)
    assert cli("init").code == 0
    text = path.read_text()
    rule = text[text.index("# [[verdict]]") :].replace("\n# ", "\n").removeprefix("# ")

    assert tomllib.loads(text + rule)["verdict"] == [
        {"message": "relay .* stuck", "verdict": "infra"},
        {"message": "watchdog reset|hard fault", "verdict": "device"},
    ]


def test_outside_a_repository_it_writes_nothing(cli: Command, tmp_path: Path) -> None:
    done = cli("init")

    assert done.code == 2
    assert "fix: " in done.err
    assert not (tmp_path / "hwci.toml").exists()


def test_without_a_server_the_address_of_the_wheel_is_left_open(
    cli: Command, tmp_path: Path
) -> None:
    repository(tmp_path, "src/a.c")
    done = cli("init")

    assert done.out.count('HWCI_WHEEL="https://hwci.example.org/dist/…"') == 2
    assert "`hwci keys create` prints what stands for the address of the wheel." in done.err
