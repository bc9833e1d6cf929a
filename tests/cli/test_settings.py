# SPDX-License-Identifier: Apache-2.0
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hwci.cli.session.credentials import ARRIVES_WITHIN, Profile, default_credentials
from hwci.cli.session.settings import DEFAULT_URL, Flags, resolve
from hwci.client.explained import ExplainedError

KEPT = Profile("https://kept.example", "ada@example.org", "kept-token", "refresh", 4e9)


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path)}


def test_without_any_setting_the_default_holds(env: dict[str, str]) -> None:
    settings = resolve(Flags(), env)

    assert (settings.url, settings.profile(), settings.token()) == (DEFAULT_URL, None, None)


def test_a_flag_wins_over_the_environment_and_that_over_the_profile(env: dict[str, str]) -> None:
    default_credentials(env).store("default", KEPT)
    assert resolve(Flags(), env).url == "https://kept.example"

    env["HWCI_URL"] = "https://environment.example"
    assert resolve(Flags(), env).url == "https://environment.example"
    assert resolve(Flags(url="https://flag.example/"), env).url == "https://flag.example"


def test_the_profile_is_named_by_flag_or_environment(env: dict[str, str]) -> None:
    default_credentials(env).store("work", KEPT, use=False)

    assert resolve(Flags(), env).profile() is None
    assert resolve(Flags(profile="work"), env).profile() == KEPT
    assert resolve(Flags(), env | {"HWCI_PROFILE": "work"}).profile() == KEPT


def test_a_kept_sign_in_is_not_shown_to_another_server(env: dict[str, str]) -> None:
    default_credentials(env).store("default", KEPT)

    assert resolve(Flags(url="https://other.example"), env).profile() is None


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


def test_a_store_of_sign_ins_is_its_owners_alone(env: dict[str, str]) -> None:
    store = default_credentials(env)
    store.store("default", KEPT)
    store.store("work", KEPT)

    assert store.path.parent.stat().st_mode & 0o777 == 0o700
    modes = {file.name: file.stat().st_mode & 0o777 for file in store.path.parent.iterdir()}
    assert modes == {"credentials.json": 0o600, "credentials.lock": 0o600}
    assert set(store.profiles()) == {"default", "work"}


def test_a_forgotten_profile_leaves_the_others(env: dict[str, str]) -> None:
    store = default_credentials(env)
    store.store("default", KEPT)
    store.store("work", KEPT)

    store.forget("default")

    assert set(store.profiles()) == {"work"}


def test_a_damaged_store_is_named_and_left_alone(env: dict[str, str]) -> None:
    store = default_credentials(env)
    store.path.parent.mkdir()
    store.path.write_text("{half")

    with pytest.raises(ExplainedError, match=r"credentials\.json"):
        store.store("default", KEPT)

    assert store.path.read_text() == "{half"


def test_sign_ins_at_the_same_time_all_stay(env: dict[str, str]) -> None:
    names = [f"profile-{number}" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: default_credentials(env).store(name, KEPT), names))

    assert set(default_credentials(env).profiles()) == set(names)


def test_a_store_of_a_newer_hwci_is_named_and_left_alone(env: dict[str, str]) -> None:
    store = default_credentials(env)
    store.path.parent.mkdir()
    newer = '{"format": 2, "sign-ins": []}'
    store.path.write_text(newer)

    for use in (store.profiles, lambda: store.store("default", KEPT)):
        with pytest.raises(ExplainedError, match="newer hwci") as caught:
            use()
        assert "they have format 2, and this one knows 1" in caught.value.message.cause
    assert store.path.read_text() == newer


def test_fields_that_another_version_added_stay(env: dict[str, str]) -> None:
    store = default_credentials(env)
    store.store("default", KEPT)
    content = json.loads(store.path.read_text())
    content["theme"] = "dark"
    content["profiles"]["default"]["org"] = "Acme"
    store.path.write_text(json.dumps(content))

    store.store("default", replace(KEPT, access_token="new"))
    store.store("work", KEPT)

    after = json.loads(store.path.read_text())
    assert after["theme"] == "dark"
    assert after["profiles"]["default"]["org"] == "Acme"
    assert store.profiles()["default"].access_token == "new"


def test_a_store_that_cannot_be_read_or_written_is_an_error_of_three_lines(
    tmp_path: Path, env: dict[str, str]
) -> None:
    store = default_credentials(env)
    store.path.mkdir(parents=True)
    with pytest.raises(ExplainedError, match="cannot be read") as caught:
        store.profiles()
    assert caught.value.message.cause == "Is a directory"

    (tmp_path / "file").write_text("")
    with pytest.raises(ExplainedError, match="cannot be written") as caught:
        default_credentials({"XDG_CONFIG_HOME": str(tmp_path / "file")}).store("default", KEPT)
    assert "XDG_CONFIG_HOME" in caught.value.message.fix


def test_no_secret_shows_in_a_repr(env: dict[str, str]) -> None:
    default_credentials(env).store("default", KEPT)
    settings = resolve(Flags(), env | {"HWCI_TOKEN": "very-secret"})

    assert "secret" not in repr(settings)
    assert "token" not in repr(settings.profile())


def test_an_access_token_ends() -> None:
    profile = Profile("https://x", "e", "a", "r", expires_at=1_000)

    arrives = 1_000 - ARRIVES_WITHIN.total_seconds()
    assert not profile.ended(datetime.fromtimestamp(arrives - 1, UTC))
    assert profile.ended(datetime.fromtimestamp(arrives, UTC))
