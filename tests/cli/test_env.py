# SPDX-License-Identifier: Apache-2.0
"""`hwci env` shows what is known of a job, its sources, how to set the rest, and no secret."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command
from tests.support.recorded import NAMES, recorded

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

NOBODY = {"GITHUB_API_URL": "http://127.0.0.1:9", "SYSTEM_COLLECTIONURI": "http://127.0.0.1:9"}
"""Where no API answers."""


def known(cli: Command, **environ: str) -> dict[str, Any]:
    code, out, err = cli("env", "--json", **environ)
    assert (code, err) == (0, "")
    result: dict[str, Any] = json.loads(out)
    return result


@pytest.mark.parametrize("name", NAMES)
def test_each_field_is_shown_with_its_source(cli: Command, name: str) -> None:
    code, out, _ = cli("env", **recorded(name) | {"COLUMNS": "250"})

    assert code == 0
    for field, result in known(cli, **recorded(name))["fields"].items():
        [line] = [line for line in out.splitlines() if line.startswith(f"{field} ")]
        assert line.rstrip().endswith(result["by"])


@pytest.mark.parametrize("name", NAMES)
def test_no_secret_is_shown(cli: Command, name: str) -> None:
    environ = recorded(name) | SECRETS | NOBODY

    assert "hunter2" not in "".join(map(str, cli("env", **environ)))
    assert "hunter2" not in json.dumps(known(cli, **environ))


def test_missing_fields_are_named_with_how_to_set_them(cli: Command) -> None:
    missing = {item["field"]: item for item in known(cli, **recorded("circleci-push"))["missing"]}

    assert missing["box_key"] == {
        "field": "box_key",
        "flag": "--box",
        "variable": "HWCI_BOX",
        "neededBy": ["report-run"],
    }
    assert missing["merged_at"]["neededBy"] == ["merge-announce"]
    _, _, err = cli("env", **recorded("circleci-push"))
    assert "missing: box_key, for report-run: --box (or HWCI_BOX)\n" in err


PRODUCT = """
[[product]]
suite = "{}"
firmware_paths = ["**"]
harness_paths = []
"""


def test_the_product_is_always_shown(cli: Command, tmp_path: Path) -> None:
    def suite() -> dict[str, str]:
        result: dict[str, str] = known(cli, HWCI_WORKFLOW="hil", HWCI_REPO_KEY="r")["fields"][
            "suite"
        ]
        return result

    assert suite() == {"value": "hil", "by": "default: the workflow"}
    (tmp_path / "hwci.toml").write_text(PRODUCT.format("one"))
    assert suite() == {"value": "one", "by": "hwci.toml"}
    (tmp_path / "hwci.toml").write_text(PRODUCT.format("one") + PRODUCT.format("two"))
    assert suite() == {"value": "hil", "by": "default: the workflow"}
    _, out, err = cli("env", HWCI_WORKFLOW="hil")
    assert "default: the workflow" in out
    assert "doubtful: suite: hwci.toml has 2 products (one, two)" in err
    assert "--suite (HWCI_SUITE)" in err


def test_without_any_configuration_it_says_sensible_things(cli: Command) -> None:
    result = known(cli)

    assert result["system"] is None
    assert [item["field"] for item in result["missing"]] == [
        "repo_key",
        "branch",
        "sha",
        "box_key",
        "merged_at",
    ]
    assert result["isSet"] == {"HWCI_URL": False, "HWCI_CI_KEY": False}


def test_it_shows_that_there_is_a_key_by_variable_or_by_file(cli: Command) -> None:
    assert known(cli, HWCI_CI_KEY="svc_x", HWCI_URL="http://x")["isSet"] == {
        "HWCI_URL": True,
        "HWCI_CI_KEY": True,
    }
    assert known(cli, HWCI_CI_KEY_FILE="/key")["isSet"]["HWCI_CI_KEY"]


def test_what_cannot_be_understood_is_shown_and_fails_nothing(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "hwci.toml").write_text("repo_key = 1")

    faults = known(cli, HWCI_RUN_ID="#57")["faults"]

    assert faults[0] == f"HWCI_RUN_ID is '#57': it should be a whole number from 0 to {2**63 - 1}"
    assert "repo_key: Input should be a valid string" in faults[1]
    assert "HWCI_RUN_ID is '#57'" in cli("env", HWCI_RUN_ID="#57").err


def test_what_the_table_notes_stands_in_the_json_too(cli: Command, tmp_path: Path) -> None:
    products = PRODUCT.format("a") + PRODUCT.format("b")
    (tmp_path / "hwci.toml").write_text(f'repo_key = "r"\n{products}')
    given = {"HWCI_WORKFLOW": "hil", "HWCI_BEFORE_SHA": "HEAD~1"}

    notes = known(cli, **given)["notes"]

    lines = cli("env", **given).err.splitlines()
    said = [line for line in lines if not line.startswith("missing: ")]
    assert notes == said
    assert any(line.startswith("Git failed: ") for line in notes)
    assert any(line.startswith("doubtful: suite: ") for line in notes)


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


def test_since_when_changes_count_is_shown_or_why_that_is_not_known(cli: Command) -> None:
    environ = recorded("jenkins-multibranch")
    doubtful = cli("env", **environ)
    environ["GIT_PREVIOUS_SUCCESSFUL_COMMIT"] = environ["GIT_PREVIOUS_COMMIT"]

    assert known(cli, **environ)["fields"]["base_sha"] == {
        "value": environ["GIT_PREVIOUS_COMMIT"],
        "by": "GIT_PREVIOUS_COMMIT",
    }
    [line] = [line for line in doubtful.out.splitlines() if line.startswith("base_sha ")]
    assert line.split() == ["base_sha", "not", "known", "default"]
    assert "GIT_PREVIOUS_COMMIT does not show what the run on" in doubtful.err


def test_the_box_that_this_machine_was_installed_as_is_the_last_to_be_asked(
    cli: Command, tmp_path: Path
) -> None:
    path = tmp_path / "own.json"
    path.touch(mode=0o600)
    result = dict.fromkeys(("url", "box_id", "org_id", "key"), "hunter2")
    path.write_text(json.dumps({**result, "name": "bench-9"}))
    where = {"HWCI_BOX_FILE": str(path)}

    assert known(cli, **where)["fields"]["box_key"] == {"value": "bench-9", "by": "box.json"}
    runner = known(cli, **recorded("gitlab-push"), **where)["fields"]["box_key"]
    assert runner["by"] == "CI_RUNNER_DESCRIPTION"
    path.chmod(0o644)  # no secret any more: what it says is doubtful
    assert "box_key" not in known(cli, **where)["fields"]
