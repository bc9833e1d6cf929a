# SPDX-License-Identifier: Apache-2.0
"""Bodies that people send: unknown fields refused, limits kept, secrets never repeated."""

import pytest

from hwci.wire.accounts import Login, NewCiKey, NewOrganization, Registration
from tests.wire.bodies import issues, paths

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


def test_a_new_password_is_12_to_1024_characters() -> None:
    assert paths(Registration, PERSON | {"password": "x" * 12}) == []
    assert paths(Registration, PERSON | {"password": "x" * 1_024}) == []
    assert paths(Registration, PERSON | {"password": "x" * 11}) == [["body", "password"]]
    assert paths(Registration, PERSON | {"password": "x" * 1_025}) == [["body", "password"]]


def test_null_for_an_optional_field_is_the_field_left_out() -> None:
    nulls = {"name": None, "organization": None, "inviteToken": None}

    assert paths(Registration, PERSON | nulls) == []


def test_names_on_the_wire_are_camel_case() -> None:
    assert paths(Registration, PERSON | {"inviteToken": 3}) == [["body", "inviteToken"]]


def test_a_password_at_fault_is_never_repeated() -> None:
    found = issues(Registration, {"email": "hunter2", "password": "hunter2"})

    assert len(found) == 2
    assert "hunter2" not in str(found)
