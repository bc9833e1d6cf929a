# SPDX-License-Identifier: Apache-2.0
"""Where the commands take their settings from: flags, variables and profiles, in this order."""

from pathlib import Path

import pytest

from hwci.cli.session.settings import DEFAULT_URL, Flags, kept_sign_ins, resolve
from hwci.client.explained import ExplainedError
from hwci.client.session_file import Profile
from tests.support.sign_ins import put

KEPT = Profile("https://kept.example", "ada@example.org", "kept-token", "refresh", 4e9)


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path)}


def test_without_any_setting_the_default_holds(env: dict[str, str]) -> None:
    settings = resolve(Flags(), env)

    assert (settings.url, settings.session.kept(), settings.token()) == (DEFAULT_URL, None, None)


def test_a_flag_wins_over_the_environment_and_that_over_the_profile(env: dict[str, str]) -> None:
    put(kept_sign_ins(env), "default", KEPT)
    assert resolve(Flags(), env).url == "https://kept.example"

    env["HWCI_URL"] = "https://environment.example"
    assert resolve(Flags(), env).url == "https://environment.example"
    assert resolve(Flags(url="https://flag.example/"), env).url == "https://flag.example"


def test_the_profile_is_named_by_flag_or_environment(env: dict[str, str]) -> None:
    put(kept_sign_ins(env), "work", KEPT)

    assert resolve(Flags(), env).session.kept() is None
    assert resolve(Flags(profile="work"), env).session.kept() == KEPT
    assert resolve(Flags(), env | {"HWCI_PROFILE": "work"}).session.kept() == KEPT


def test_a_kept_sign_in_is_not_shown_to_another_server(env: dict[str, str]) -> None:
    put(kept_sign_ins(env), "default", KEPT)

    assert resolve(Flags(url="https://other.example"), env).session.kept() is None


def test_a_sign_in_that_is_in_use_names_no_server_for_a_key(env: dict[str, str]) -> None:
    put(kept_sign_ins(env), "default", KEPT)

    with pytest.raises(ExplainedError, match="The key is not used"):
        resolve(Flags(), env).url_for_key("The key is not used")
    assert resolve(Flags(profile="default"), env).url_for_key("") == KEPT.url
    assert resolve(Flags(), env | {"HWCI_PROFILE": "default"}).url_for_key("") == KEPT.url


def test_a_secret_may_stand_in_a_file(env: dict[str, str], tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("svc_1\n")

    settings = resolve(
        Flags(), env | {"HWCI_TOKEN_FILE": str(secret), "HWCI_CI_KEY_FILE": str(secret)}
    )

    assert (settings.token(), settings.ci_key()) == ("svc_1", "svc_1")


def test_the_variable_itself_wins_over_its_file(env: dict[str, str]) -> None:
    assert resolve(Flags(), env | {"HWCI_TOKEN": "t", "HWCI_TOKEN_FILE": "/no"}).token() == "t"


def test_an_empty_variable_is_none(env: dict[str, str]) -> None:
    settings = resolve(Flags(), env | {"HWCI_URL": "", "HWCI_TOKEN": " ", "HWCI_CI_KEY": ""})

    assert (settings.url, settings.token(), settings.ci_key()) == (DEFAULT_URL, None, None)


def test_a_file_of_a_secret_that_is_not_there_is_wrong_usage(env: dict[str, str]) -> None:
    with pytest.raises(ExplainedError, match="HWCI_TOKEN_FILE") as caught:
        resolve(Flags(), env | {"HWCI_TOKEN_FILE": "/no/such/file"}).token()

    assert caught.value.message.wrong_usage


def test_no_secret_shows_in_a_repr(env: dict[str, str]) -> None:
    put(kept_sign_ins(env), "default", KEPT)
    settings = resolve(Flags(), env | {"HWCI_TOKEN": "very-secret"})

    assert "secret" not in repr(settings)
    assert "token" not in repr(settings.session.kept())
