# SPDX-License-Identifier: Apache-2.0
"""Every endpoint of the server, one function each: a function gives a `Call`, a shell sends it.

This module decides paths, queries and bodies (spec, "Endpoints"; contract). It sends nothing.
Arguments that break the field rules raise `InvalidCallError` here, before anything is sent.
"""

from datetime import datetime
from typing import TypedDict, TypeVar, Unpack
from urllib.parse import quote
from uuid import UUID

from pydantic import BaseModel, ValidationError

from hwci.client._call import Call, Credential, Method
from hwci.client.errors import InvalidCallError
from hwci.engine.vocabulary import Label
from hwci.wire import accounts, limits, reports
from hwci.wire.base import ListPage
from hwci.wire.errors import issues_of
from hwci.wire.health import HealthAnswer
from hwci.wire.metrics import (
    FailureAnswer,
    FailureEvidence,
    FlakyTestAnswer,
    MetricsPage,
    ProductAnswer,
    ResolvedFailureAnswer,
    SuiteConfigAnswer,
    UncheckedMerge,
)
from hwci.wire.queries import FailuresQuery, MetricsQuery, PageQuery, TableQuery

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)
Id = UUID | str


class TableFilters(TypedDict, total=False):
    """What narrows a table: its period, its products, and the page of it."""

    days: int
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    page: int
    limit: int


# CI report endpoints. Each may be repeated: the server knows its identity (spec, rule 3).


def announce_merge(body: reports.MergeAnnouncement) -> Call[None]:
    """Announce a merge."""
    return _ci("POST", "/api/ci/merge-announce", body)


def report_run(body: reports.RunReport) -> Call[None]:
    """Report one attempt of a run on one box."""
    return _ci("POST", "/api/ci/run-report", body)


def put_suite_config(body: reports.SuiteConfiguration) -> Call[None]:
    """Say which files are the firmware and which the harness of a product."""
    return _ci("PUT", "/api/ci/suite-config", body)


def _ci(method: Method, path: str, body: BaseModel) -> Call[None]:
    return Call(method, path, None, 204, credential=Credential.CI_KEY, body=_json(body))


# Accounts


def register(
    email: str,
    password: str,
    name: str | None = None,
    organization: str | None = None,
    invite_token: str | None = None,
) -> Call[accounts.SignedIn]:
    """Create a user, and with `organization` an organization that the user owns."""
    body = _checked(
        accounts.Registration,
        "body",
        email=email,
        password=password,
        name=name,
        organization=organization,
        invite_token=invite_token,
    )
    return Call(
        "POST",
        "/api/auth/register",
        accounts.SignedIn,
        201,
        credential=Credential.NONE,
        body=_json(body),
        repeatable=False,
    )


def login(email: str, password: str) -> Call[accounts.SignedIn]:
    """Obtain an access token."""
    return Call(
        "POST",
        "/api/auth/login",
        accounts.SignedIn,
        200,
        credential=Credential.NONE,
        body=_json(_checked(accounts.Login, "body", email=email, password=password)),
        repeatable=False,
    )


def refresh(refresh_token: str) -> Call[accounts.TokenPair]:
    """Exchange a refresh token for a new pair; the server takes each token once.

    Not repeatable: a second use of the token would end every session of the user.
    """
    return Call(
        "POST",
        "/api/auth/refresh",
        accounts.TokenPair,
        200,
        credential=Credential.NONE,
        body=_json(_checked(accounts.Refresh, "body", refresh_token=refresh_token)),
        repeatable=False,
    )


def logout(refresh_token: str) -> Call[None]:
    """End the session of a refresh token."""
    return Call(
        "POST",
        "/api/auth/logout",
        None,
        204,
        credential=Credential.NONE,
        body=_json(_checked(accounts.Logout, "body", refresh_token=refresh_token)),
    )


def me() -> Call[accounts.Me]:
    """Ask who the caller is."""
    return Call("GET", "/api/auth/me", accounts.Me, 200)


# Organizations and CI keys


def list_orgs(
    page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[accounts.OrganizationAnswer]]:
    """List the caller's organizations."""
    return _list("/api/orgs", ListPage[accounts.OrganizationAnswer], page, limit)


def create_org(name: str) -> Call[accounts.OrganizationAnswer]:
    """Create an organization that the caller owns."""
    body = _json(_checked(accounts.NewOrganization, "body", name=name))
    return Call("POST", "/api/orgs", accounts.OrganizationAnswer, 201, body=body, repeatable=False)


def get_org(org_id: Id) -> Call[accounts.OrganizationAnswer]:
    """Ask for one organization."""
    return Call("GET", _org(org_id), accounts.OrganizationAnswer, 200)


def create_ci_key(org_id: Id, name: str) -> Call[accounts.CreatedCiKey]:
    """Create a CI key: the answer is the only one that ever holds it."""
    body = _json(_checked(accounts.NewCiKey, "body", name=name))
    path = f"{_org(org_id)}/ci-keys"
    return Call("POST", path, accounts.CreatedCiKey, 201, body=body, repeatable=False)


def list_ci_keys(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[accounts.CiKeyAnswer]]:
    """List the CI keys, never their values."""
    return _list(f"{_org(org_id)}/ci-keys", ListPage[accounts.CiKeyAnswer], page, limit)


def revoke_ci_key(org_id: Id, key_id: Id) -> Call[None]:
    """Revoke a CI key, at once; again changes nothing."""
    return Call("DELETE", f"{_org(org_id)}/ci-keys/{_segment(key_id)}", None, 204)


def audit_log(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[accounts.AuditEntryAnswer]]:
    """List who did what, newest first."""
    return _list(f"{_org(org_id)}/audit-log", ListPage[accounts.AuditEntryAnswer], page, limit)


# CI metrics


def list_products(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[ProductAnswer]]:
    """List the products that were heard of."""
    return _list(f"{_org(org_id)}/products", ListPage[ProductAnswer], page, limit)


def list_suite_configs(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[SuiteConfigAnswer]]:
    """List the suite configurations as sent."""
    return _list(f"{_org(org_id)}/suite-configs", ListPage[SuiteConfigAnswer], page, limit)


def metrics(
    org_id: Id,
    days: int = limits.DAYS_DEFAULT,
    repo_key: str | None = None,
    suite: str | None = None,
    as_of: datetime | None = None,
    limit: int = limits.PAGE_LIMIT_DEFAULT,
) -> Call[MetricsPage]:
    """Ask for the metrics page: the tiles, and `limit` rows of each table."""
    query = _query(
        MetricsQuery, days=days, repo_key=repo_key, suite=suite, as_of=as_of, limit=limit
    )
    return Call("GET", f"{_org(org_id)}/ci-metrics", MetricsPage, 200, query=query)


def unchecked_merges(org_id: Id, **table: Unpack[TableFilters]) -> Call[ListPage[UncheckedMerge]]:
    """List the merges not checked on hardware."""
    path = f"{_org(org_id)}/ci-metrics/unchecked-merges"
    return Call("GET", path, ListPage[UncheckedMerge], 200, query=_query(TableQuery, **table))


def real_bugs(org_id: Id, **table: Unpack[TableFilters]) -> Call[ListPage[ResolvedFailureAnswer]]:
    """List the real firmware bugs caught."""
    return _resolved(f"{_org(org_id)}/ci-metrics/real-bugs", table)


def other_failures(
    org_id: Id, **table: Unpack[TableFilters]
) -> Call[ListPage[ResolvedFailureAnswer]]:
    """List the other resolved failures, with reason."""
    return _resolved(f"{_org(org_id)}/ci-metrics/other-failures", table)


def _resolved(path: str, table: TableFilters) -> Call[ListPage[ResolvedFailureAnswer]]:
    query = _query(TableQuery, **table)
    return Call("GET", path, ListPage[ResolvedFailureAnswer], 200, query=query)


def flakiest_tests(org_id: Id, **table: Unpack[TableFilters]) -> Call[ListPage[FlakyTestAnswer]]:
    """List the flakiest tests, the highest rate first."""
    path = f"{_org(org_id)}/ci-metrics/flakiest-tests"
    return Call("GET", path, ListPage[FlakyTestAnswer], 200, query=_query(TableQuery, **table))


def list_failures(
    org_id: Id, label: Label | None = None, **table: Unpack[TableFilters]
) -> Call[ListPage[FailureAnswer]]:
    """List every failure of the period with its label."""
    query = _query(FailuresQuery, label=label, **table)
    return Call("GET", f"{_org(org_id)}/ci-failures", ListPage[FailureAnswer], 200, query=query)


def get_failure(org_id: Id, failure_id: Id) -> Call[FailureEvidence]:
    """Ask for one failure with its evidence."""
    return Call("GET", _failure(org_id, failure_id), FailureEvidence, 200)


def confirm_failure(org_id: Id, failure_id: Id) -> Call[ResolvedFailureAnswer]:
    """Count a resolved failure as a real firmware bug."""
    return _review(org_id, failure_id, "confirm")


def dismiss_failure(org_id: Id, failure_id: Id) -> Call[ResolvedFailureAnswer]:
    """Move a real firmware bug to the other list."""
    return _review(org_id, failure_id, "dismiss")


def reset_failure(org_id: Id, failure_id: Id) -> Call[ResolvedFailureAnswer]:
    """Restore the automatic label of a reviewed failure."""
    return _review(org_id, failure_id, "reset")


def _review(org_id: Id, failure_id: Id, action: str) -> Call[ResolvedFailureAnswer]:
    # Not repeatable: the second of two confirmations is refused with 409 (semantics, 8.1).
    path = f"{_failure(org_id, failure_id)}/{action}"
    return Call("POST", path, ResolvedFailureAnswer, 200, repeatable=False)


def health() -> Call[HealthAnswer]:
    """Ask whether the process answers."""
    return Call("GET", "/healthz", HealthAnswer, 200, credential=Credential.NONE)


# How paths, queries and bodies are written


def _segment(value: Id) -> str:
    return quote(str(value), safe="")


def _org(org_id: Id) -> str:
    return f"/api/orgs/{_segment(org_id)}"


def _failure(org_id: Id, failure_id: Id) -> str:
    return f"{_org(org_id)}/ci-failures/{_segment(failure_id)}"


def _list(path: str, answer: type[T], page: int, limit: int) -> Call[T]:
    return Call("GET", path, answer, 200, query=_query(PageQuery, page=page, limit=limit))


def _query(model: type[BaseModel], **fields: object) -> tuple[tuple[str, str], ...]:
    checked = _checked(model, "query", **fields)
    written = checked.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return tuple((name, str(value)) for name, value in written.items())


def _checked(model: type[Model], part: str, **fields: object) -> Model:
    # What was not given is not sent: the server fills in the defaults.
    given = {name: value for name, value in fields.items() if value is not None}
    try:
        return model(**given)
    except ValidationError as fault:
        # The fault holds the values, which may be secrets: it goes no further.
        raise InvalidCallError(issues_of(fault, part)) from None


def _json(body: BaseModel) -> bytes:
    return body.model_dump_json(by_alias=True, exclude_unset=True).encode()
