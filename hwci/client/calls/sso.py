# SPDX-License-Identifier: Apache-2.0
"""Single sign-on, as far as a program takes part in it: the rest is the browser's."""

from hwci.client._call import Call, Credential
from hwci.client.calls._writing import checked, written
from hwci.wire import sso
from hwci.wire.accounts import SignedIn


def sso_providers() -> Call[sso.SsoProviders]:
    """List the providers of single sign-on."""
    return Call("GET", "/api/auth/sso", sso.SsoProviders, 200, credential=Credential.NONE)


def exchange_sso_code(code: str, verifier: str) -> Call[SignedIn]:
    """Exchange the code that a loopback address was given for a sign-in, once."""
    return Call(
        "POST",
        "/api/auth/sso/token",
        SignedIn,
        200,
        credential=Credential.NONE,
        body=written(checked(sso.SsoExchange, "body", code=code, verifier=verifier)),
        repeatable=False,
    )
