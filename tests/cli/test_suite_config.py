# SPDX-License-Identifier: Apache-2.0
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command

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

    assert (code, out, err) == (0, "", "3 products in 2 files: ok.\n")


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
    (files / "none.toml").write_text("x = 1\n")
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


def test_a_product_given_twice_is_a_fault(cli: Command) -> None:
    code, _, err = cli("suite-config", "check", "hwci.toml", "hwci.toml")

    assert code == 1
    assert "acme/firmware:sensor-fw is configured twice" in err
    assert "acme/firmware:gateway-fw is configured twice" in err


def test_a_refused_configuration_fails_the_command(in_ci: Command) -> None:
    refused = in_ci("suite-config", "apply", "other.json", HWCI_CI_KEY="svc_" + "0" * 64)
    away = in_ci("suite-config", "apply", "other.json", HWCI_URL="http://127.0.0.1:9")

    assert (refused.code, away.code) == (4, 5)
    assert "Check HWCI_CI_KEY" in refused.err
