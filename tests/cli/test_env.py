# SPDX-License-Identifier: Apache-2.0
"""`hwci env` shows what is known of a job, who told it, how to say the rest, and no secret."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.ci.recorded import NAMES, recorded
from tests.cli.conftest import Command

SECRETS = {
    "HWCI_CI_KEY": "svc_hunter2",
    "GITHUB_TOKEN": "hunter2",
    "CI_JOB_TOKEN": "hunter2",
    "SYSTEM_ACCESSTOKEN": "hunter2",
    "BUILDKITE_AGENT_ACCESS_TOKEN": "hunter2",
    "GIT_URL": "https://u:hunter2@git.example/acme/firmware.git",
    "BUILDKITE_REPO": "https://u:hunter2@git.example/acme/firmware.git",
    "CIRCLE_REPOSITORY_URL": "https://u:hunter2@git.example/acme/firmware.git",
}


def known(cli: Command, **environ: str) -> dict[str, Any]:
    code, out, err = cli("env", "--json", **environ)
    assert (code, err) == (0, "")
    told: dict[str, Any] = json.loads(out)
    return told


@pytest.mark.parametrize("name", NAMES)
def test_each_field_is_shown_with_who_told_it(cli: Command, name: str) -> None:
    code, out, _ = cli("env", **recorded(name))

    assert code == 0
    for field, told in known(cli, **recorded(name))["fields"].items():
        [line] = [line for line in out.splitlines() if line.startswith(f"{field} ")]
        assert line.rstrip().endswith(told["by"])


@pytest.mark.parametrize("name", NAMES)
def test_no_secret_is_shown(cli: Command, name: str) -> None:
    environ = recorded(name) | SECRETS

    assert "hunter2" not in "".join(map(str, cli("env", **environ)))
    assert "hunter2" not in json.dumps(known(cli, **environ))


def test_what_is_missing_is_told_with_how_to_say_it(cli: Command) -> None:
    missing = {item["field"]: item for item in known(cli, **recorded("circleci-push"))["missing"]}

    assert missing["box_key"] == {
        "field": "box_key",
        "flag": "--box",
        "variable": "HWCI_BOX",
        "neededBy": ["report-run"],
    }
    assert missing["merged_at"]["neededBy"] == ["merge-announce"]
    _, _, err = cli("env", **recorded("circleci-push"))
    assert "missing: box_key, for report-run: --box or HWCI_BOX\n" in err


def test_without_any_configuration_it_says_sensible_things(cli: Command) -> None:
    told = known(cli)

    assert told["system"] is None
    assert [item["field"] for item in told["missing"]] == [
        "repo_key",
        "branch",
        "sha",
        "box_key",
        "merged_at",
    ]
    assert told["isSet"] == {"HWCI_URL": False, "HWCI_CI_KEY": False}


def test_it_tells_that_a_key_is_there_by_variable_or_by_file(cli: Command) -> None:
    assert known(cli, HWCI_CI_KEY="svc_x", HWCI_URL="http://x")["isSet"] == {
        "HWCI_URL": True,
        "HWCI_CI_KEY": True,
    }
    assert known(cli, HWCI_CI_KEY_FILE="/key")["isSet"]["HWCI_CI_KEY"]


def test_what_cannot_be_understood_is_shown_and_fails_nothing(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "hwci.toml").write_text('repo_kei = "r"')

    faults = known(cli, HWCI_RUN_ID="#57")["faults"]

    assert faults[0] == "HWCI_RUN_ID is '#57': it should be a whole number"
    assert "did you mean repo_key?" in faults[1]
    assert "HWCI_RUN_ID is '#57'" in cli("env", HWCI_RUN_ID="#57").err


def test_hostile_names_stay_text(cli: Command) -> None:
    answer = cli("env", **recorded("github-push") | {"GITHUB_REF_NAME": "x\x1b[31m\u202e"})

    assert "x\\x1b[31m\\u202e" in answer.out
    assert "\x1b" not in cli("env", "--json", GITHUB_ACTIONS="true", GITHUB_REF_NAME="\x1b").out


def test_a_name_that_the_agent_of_a_ci_would_obey_is_broken_up(cli: Command) -> None:
    name = "x##vso[task.setvariable variable=PATH]y##[error]z"
    environ = recorded("azure-ci") | {"BUILD_SOURCEBRANCH": name}

    assert "##" not in cli("env", **environ).out
    raw = cli("env", "--json", **environ).out
    assert "##" not in raw
    assert json.loads(raw)["fields"]["branch"]["value"] == name
