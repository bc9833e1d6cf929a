# SPDX-License-Identifier: Apache-2.0
"""Bodies that people send: unknown fields refused, limits kept, secrets never repeated."""

import json
import traceback
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel, ValidationError

from hwci.wire import accounts
from hwci.wire.accounts import Login, Logout, NewCiKey, NewOrganization, Refresh, Registration
from hwci.wire.base import Answer, Body, CiBody, parse_time
from hwci.wire.queries import Query
from tests.wire.bodies import AT, issues, paths

PERSON = {"email": "ada@example.org", "password": "correct horse battery"}


def test_a_ci_key_name_is_1_to_255_characters() -> None:
    assert paths(NewCiKey, {"name": "x"}) == []
    assert paths(NewCiKey, {"name": "x" * 255}) == []
    for wrong in ("", "x" * 256, 3, None, "a\0"):
        assert paths(NewCiKey, {"name": wrong}) == [["body", "name"]]


def test_unknown_fields_are_refused() -> None:
    assert paths(NewCiKey, {"name": "x", "scope": "all"}) == [["body", "scope"]]
    assert paths(NewOrganization, {"name": "x", "id": "y"}) == [["body", "id"]]
    assert paths(Login, PERSON | {"otp": "1"}) == [["body", "otp"]]


@pytest.mark.parametrize("email", ["a@b", "ada@example.org", "ü@example.org"])
def test_an_email_has_one_at_sign_between_text(email: str) -> None:
    assert paths(Registration, PERSON | {"email": email}) == []


@pytest.mark.parametrize("email", ["", "@b", "a@", "a b@c", "a@b@c", "a" * 250 + "@bcde", "a@b\n"])
def test_anything_else_is_no_email(email: str) -> None:
    assert paths(Registration, PERSON | {"email": email}) == [["body", "email"]]


def test_a_person_who_writes_no_email_reads_what_one_is() -> None:
    found = issues(Registration, PERSON | {"email": "ada.example.org"})

    assert found == [(["body", "email"], "Should look like name@example.org")]
    schema = Registration.model_json_schema()["properties"]["email"]
    assert (schema["minLength"], schema["pattern"]) == (3, r"^[^@\s]+@[^@\s]+$")


def test_a_new_password_is_12_to_1024_characters() -> None:
    assert paths(Registration, PERSON | {"password": "xy" * 6}) == []
    assert paths(Registration, PERSON | {"password": "xy" * 512}) == []
    assert paths(Registration, PERSON | {"password": "xy" * 5 + "x"}) == [["body", "password"]]
    assert paths(Registration, PERSON | {"password": "xy" * 512 + "x"}) == [["body", "password"]]


@pytest.mark.parametrize(
    "password",
    [
        "1" * 12,
        " " * 12,
        "123456789012",
        "0987654321098765",
        "abcdefghijklm",
        "ZYXWVUTSRQPO",
        "xyzabcdefghi",
        "Ada@Example.org",
    ],
)
def test_a_new_password_is_none_that_anybody_tries_first(password: str) -> None:
    """Who has one from before signs in with it all the same."""
    result = PERSON | {"password": password}

    assert paths(Registration, result) == [["body", "password"]]
    assert paths(Login, result) == []
    assert paths(Registration, PERSON | {"password": f"{password}!"}) == []


def test_null_for_an_optional_field_is_the_field_left_out() -> None:
    nulls = {"name": None, "organization": None, "inviteToken": None}

    assert paths(Registration, PERSON | nulls) == []


def test_names_on_the_wire_are_camel_case() -> None:
    assert paths(Registration, PERSON | {"inviteToken": 3}) == [["body", "inviteToken"]]


def test_a_password_at_fault_is_never_repeated() -> None:
    found = issues(Registration, {"email": "hunter2", "password": "hunter2"})

    assert len(found) == 2
    assert "hunter2" not in str(found)


SECRET = "hunter2hunter2"
ADA = accounts.UserAnswer(id=UUID(int=1), email="ada@example.org", name="Ada")


@pytest.mark.parametrize(
    "holder",
    [
        Registration(email="a@b", password=SECRET, invite_token=SECRET),
        Login(email="a@b", password=SECRET),
        Refresh(refresh_token=SECRET),
        Logout(refresh_token=SECRET),
        accounts.TokenPair(access_token=SECRET, refresh_token=SECRET, expires_in=900),
        accounts.SignedIn(
            user=ADA, organization=None, access_token=SECRET, refresh_token=SECRET, expires_in=900
        ),
        accounts.CreatedCiKey(id=UUID(int=1), name="ci", api_key=SECRET, created_at=parse_time(AT)),
    ],
    ids=lambda holder: type(holder).__name__,
)
def test_what_holds_a_secret_sends_it_and_never_shows_it(holder: BaseModel) -> None:
    assert SECRET in holder.model_dump_json()
    assert SECRET not in repr(holder)
    assert SECRET not in str(holder)


def test_every_password_token_and_key_is_known_as_a_secret() -> None:
    models = [
        kind
        for kind in vars(accounts).values()
        if isinstance(kind, type) and issubclass(kind, BaseModel)
    ]
    shown = [
        f"{model.__name__}.{name}"
        for model in models
        for name, field in model.model_fields.items()
        if name.endswith(("password", "_token", "api_key"))
        and field.annotation is not bool
        and field.repr
    ]

    assert shown == []


@pytest.mark.parametrize("base", [Answer, Body, CiBody, Query])
@pytest.mark.parametrize("wrong", [{"number": SECRET}, {"other": SECRET}, SECRET, [SECRET]])
def test_no_error_of_a_model_shows_what_it_was_given(base: type[BaseModel], wrong: Any) -> None:
    class Given(base):  # type: ignore[misc,valid-type]  # a parameter
        number: int

    for read in (Given.model_validate_json, lambda text: Given.model_validate(json.loads(text))):
        with pytest.raises(ValidationError) as caught:
            read(json.dumps(wrong))

        assert SECRET not in "".join(traceback.format_exception(caught.value))
