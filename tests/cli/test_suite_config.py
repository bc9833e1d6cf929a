# SPDX-License-Identifier: Apache-2.0
"""`hwci suite-config` checks and applies configurations, and compares them with the checkout."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.support.clones import git
from tests.support.recorded import recorded

TOML = """
[[product]]
repo_key = "acme/firmware"
suite = "sensor-fw"
firmware_paths = ["src/**", "!src/**/README.md"]
harness_paths = ["hil/**"]
merge_trigger = true

[[product]]
repo_key = "acme/firmware"
suite = "gateway-fw"
firmware_paths = ["gateway/**"]
harness_paths = []
trigger_paths = ["gateway/**"]
merge_trigger = false
"""
BODY = {
    "repo_key": "acme/firmware",
    "suite": "other",
    "firmware_paths": [],
    "harness_paths": [],
    "merge_trigger": True,
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> Path:
    (tmp_path / "hwci.toml").write_text(TOML)
    (tmp_path / "other.json").write_text(json.dumps(BODY))
    return tmp_path


def test_configurations_are_checked_without_a_server(cli: Command) -> None:
    code, out, err = cli("suite-config", "check", "hwci.toml", "other.json")

    assert (code, out) == (0, "")
    note, found = err.splitlines()
    assert note.startswith("note: Only the rules are checked, without a repository: git ")
    assert found == "3 products in 2 files: ok."


def test_every_product_of_every_file_is_applied(in_ci: Command) -> None:
    code, out, err = in_ci("suite-config", "apply", "hwci.toml", "other.json")

    assert (code, out) == (0, "")
    assert [line.split()[2] for line in err.splitlines()] == [
        "acme/firmware:sensor-fw",
        "acme/firmware:gateway-fw",
        "acme/firmware:other",
    ]


def test_a_dry_run_prints_what_would_be_sent(in_ci: Command) -> None:
    code, out, _ = in_ci("suite-config", "apply", "other.json", "-n", HWCI_URL="http://127.0.0.1:9")

    assert code == 0
    assert json.loads(out) == BODY


def test_every_fault_of_every_file_is_listed_and_nothing_is_sent(
    in_ci: Command, files: Path
) -> None:
    bad = {**BODY, "firmware_paths": ["ok/**", "a?b"], "merge_trigger": "yes"}
    (files / "bad.json").write_text(json.dumps(bad))
    (files / "half.json").write_text('{"repo_key":')
    (files / "half.toml").write_text("[[product]\n")
    (files / "none.toml").write_text("repo_key = 'acme/firmware'\n")
    names = ("bad.json", "half.json", "half.toml", "none.toml", "no.json", "other.json")

    for verb in ("check", "apply"):
        code, out, err = in_ci("suite-config", verb, *names)
        assert (code, out) == (1, "")
        assert "bad.json: body.firmware_paths.1: " in err
        assert "bad.json: body.merge_trigger: " in err
        assert "half.json: Expecting value: line 1 column 13" in err
        assert "half.toml: " in err
        assert "none.toml: holds no [[product]] table" in err
        assert "no.json: cannot be read: No such file" in err
        assert "6 faults" in err
        assert "Applied" not in err
        assert ("nothing was sent" in err) is (verb == "apply")


@pytest.mark.parametrize("command", ["check", "apply"])
def test_unknown_keys_are_one_line_and_nothing_is_sent(
    in_ci: Command, files: Path, command: str
) -> None:
    newer = 'timeout = 5\n"new\\nline" = 1\n' + TOML.replace("suite =", 'bx = "b"\nsuite =', 1)
    (files / "hwci.toml").write_text(newer)

    code, out, err = in_ci("suite-config", command, "hwci.toml", "other.json")

    assert (code, out) == (1, "")
    [named] = [line for line in err.splitlines() if "unknown keys" in line]
    assert (
        "3 unknown keys: product 1: bx (did you mean box?), timeout (known: repo_key, firmware, "
        "messages, links, tests, product, verdict), new\\nline. "
    ) in named
    assert named.endswith("knows the rest, update hwci")
    assert "Applied" not in err


def test_a_product_configured_twice_is_a_fault(cli: Command) -> None:
    code, _, err = cli("suite-config", "check", "hwci.toml", "hwci.toml")

    assert code == 1
    assert "acme/firmware:sensor-fw is configured twice" in err
    assert "acme/firmware:gateway-fw is configured twice" in err


def test_a_refused_configuration_fails_the_command(in_ci: Command) -> None:
    refused = in_ci("suite-config", "apply", "other.json", HWCI_CI_KEY="svc_" + "0" * 64)
    away = in_ci("suite-config", "apply", "other.json", HWCI_URL="http://127.0.0.1:9")

    assert (refused.code, away.code) == (4, 5)
    assert "Check HWCI_CI_KEY" in refused.err


FITTING = """
repo_key = "acme/firmware"

[[product]]
suite = "sensor-fw"
firmware_paths = ["src/**"]
harness_paths = ["hil/**"]
"""


@pytest.fixture
def checkout(files: Path) -> Path:
    """A repository around the files, and a folder deep in it."""
    (files / "hwci.toml").write_text(FITTING)
    for name in ("src/main.c", "hil/test_boot.py", "docs/deep/index.md"):
        (files / name).parent.mkdir(parents=True)
        (files / name).write_text(name)
    git(files, "init", "-q", "-b", "main")
    git(files, "add", "hwci.toml", "src", "hil", "docs")
    git(files, "commit", "-q", "-m", "All")
    return files


def test_without_a_named_file_that_of_the_repository_is_used(
    in_ci: Command, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(checkout / "docs" / "deep")

    code, _, err = in_ci("suite-config", "apply")
    assert (code, err.split()[2]) == (0, "acme/firmware:sensor-fw")
    code, out, err = in_ci("suite-config", "check")
    assert (code, err) == (0, "1 product in 1 file: ok.\n")
    said, head, *_ = out.splitlines()
    assert said == "Commits by what they change, of the last 1 commit:"
    assert head.split() == ["Product", "Firmware", "only", "Harness", "only", "Both", "Neither"]
    assert "50 % of 4 changed files" in out
    assert "Neither, by folder: the root folder (1), docs (1)" in out


def test_the_usage_is_wrong_if_no_file_is_named_or_found(cli: Command, files: Path) -> None:
    (files / "hwci.toml").unlink()

    code, _, err = cli("suite-config", "check")
    assert code == 2
    assert "no FILE is named" in err


def test_a_warning_fails_only_a_strict_check(cli: Command, checkout: Path) -> None:
    (checkout / "hwci.toml").write_text(FITTING.replace('"src/**"', '"src/**", "./lib/**"'))
    warning = (
        "warning: acme/firmware:sensor-fw: firmware_paths: ./lib/**: matches nothing:"
        " paths begin at the root without /; write lib/**"
    )

    code, _, err = cli("suite-config", "check")
    assert (code, err.splitlines()) == (0, [warning, "1 product in 1 file: ok."])
    code, _, err = cli("suite-config", "check", "--strict")
    assert code == 1
    assert "The configuration does not fit the repository" in err


def test_apply_repeats_the_warnings_of_a_check(in_ci: Command, checkout: Path) -> None:
    (checkout / "hwci.toml").write_text(FITTING.replace('"hil/**"', '"hil/**", "rig/**"'))
    warned = in_ci("suite-config", "check").err.splitlines()[0]
    assert warned.startswith("warning: acme/firmware:sensor-fw: harness_paths: rig/**")

    for more in ((), ("--dry-run",)):
        code, _, err = in_ci("suite-config", "apply", *more)
        assert code == 0
        assert warned in err.splitlines()


@pytest.mark.usefixtures("checkout")
def test_a_check_prints_json(cli: Command) -> None:
    found = json.loads(cli("suite-config", "check", "--json").out)

    assert found["products"] == [
        {
            "repoKey": "acme/firmware",
            "suite": "sensor-fw",
            "firmware": 0,
            "harness": 0,
            "both": 1,
            "neither": 0,
        }
    ]
    assert (found["changedFiles"], found["knownFiles"], found["warnings"]) == (4, 2, [])


def test_a_named_folder_must_be_a_repository(cli: Command) -> None:
    for words in (("--repository", "."), ("--json",)):
        code, out, err = cli("suite-config", "check", "hwci.toml", *words)
        assert (code, out) == (2, "")
        assert "The repository cannot be read" in err


def test_a_product_without_a_repository_is_a_fault_of_the_configuration(
    cli: Command, files: Path
) -> None:
    (files / "hwci.toml").write_text(FITTING.replace("repo_key", "# repo_key"))

    code, _, err = cli("suite-config", "check")
    assert code == 1
    assert "hwci.toml: product 1: repo_key is missing, here and at the top, and neither" in err


def remote(folder: Path, name: str) -> Path:
    """Make a checkout whose remote names its repository."""
    for words in (
        ("init", "-q", str(folder)),
        ("-C", str(folder), "remote", "add", "origin", f"git@example.org:{name}.git"),
    ):
        subprocess.run(["git", *words], check=True)
    return folder


def test_a_product_without_repo_key_has_the_one_that_reports_have(
    in_ci: Command, cli: Command, files: Path
) -> None:
    (files / "hwci.toml").write_text(FITTING.replace("repo_key", "# repo_key"))
    remote(files, "acme/by-git")
    other = str(remote(files / "other", "acme/other"))
    run = ("report-run", "--hello", "failed", "-n", "--box=b", "--sha=" + "a" * 40, "--branch=main")

    def shown(*words: str, **env: str) -> str:
        code, _, err = cli("suite-config", "check", *words, **env)
        assert code == 0, err
        return err.splitlines()[0].partition("are of ")[2]

    applied = in_ci("suite-config", "apply", "--dry-run")
    assert applied.code == 0
    assert {line["repo_key"] for line in map(json.loads, applied.out.splitlines())} == {
        json.loads(cli(*run).out)["repo_key"]
    }
    assert shown() == "acme/by-git (git)."
    assert shown(HWCI_REPO_KEY="acme/said") == "acme/said (HWCI_REPO_KEY)."
    assert shown(**recorded("github-push")) == "acme/firmware (GITHUB_REPOSITORY)."
    assert shown("--repository", other) == "acme/other (git)."


def test_a_repository_name_that_is_too_long_is_a_fault(cli: Command, files: Path) -> None:
    (files / "hwci.toml").write_text(FITTING.replace("repo_key", "# repo_key"))

    code, _, err = cli("suite-config", "check", HWCI_REPO_KEY="x" * 256)

    assert code == 1
    assert "hwci.toml: product 1: repo_key: String should have at most 255" in err


LINKED = """
[[product]]
repo_key = "acme/fw"
suite = "s"
firmware_paths = ["src/**"]
harness_paths = []
[links]
"""


def test_missing_links_are_guessed_from_the_remote_of_the_clone(
    cli: Command, tmp_path: Path
) -> None:
    remote = "https://ada:hunter2@github.com/acme/fw.git"
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, "remote", "add", "origin", remote], check=True)
    (tmp_path / "hwci.toml").write_text(f'{LINKED}file = "https://cgit.example/{{path}}"')

    code, out, err = cli("suite-config", "apply", "--dry-run")

    assert code == 0, err
    assert json.loads(out)["links"] == {
        "commit": "https://github.com/acme/fw/commit/{sha}",
        "file": "https://cgit.example/{path}",
        "pull": "https://github.com/acme/fw/pull/{number}",
    }


@pytest.mark.parametrize(
    ("link", "fault"),
    [
        ('commit = "javascript:{sha}"', "links.commit: Should be an address that begins with http"),
        (
            'comit = "https://git.example/{sha}"',
            "1 unknown key: links: comit (did you mean commit?)",
        ),
    ],
)
def test_a_link_without_an_address_is_one_line_and_a_report_is_still_sent(
    cli: Command, tmp_path: Path, link: str, fault: str
) -> None:
    other = LINKED.replace('"s"', '"other"').removesuffix("[links]\n")
    (tmp_path / "hwci.toml").write_text(other + LINKED + link)

    applied = cli("suite-config", "apply", "--dry-run")
    reported = cli(
        *("report-run", "--hello=failed", "--run-id=1", "--workflow=w", "--box=b", "--sha=0123456"),
        *("--branch=main", "--started-at=2026-03-01T09:00:00Z", "--dry-run"),
    )

    assert applied.code != 0
    assert sum(fault in line for line in applied.err.splitlines()) == 1
    assert reported.code == 0, reported.err
