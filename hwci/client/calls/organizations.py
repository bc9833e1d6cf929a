# SPDX-License-Identifier: Apache-2.0
"""Organizations, CI keys and the audit log."""

from hwci.client._call import Call
from hwci.client.calls._writing import Id, checked, listing, org_path, segment, written
from hwci.wire import accounts, limits
from hwci.wire.base import ListPage


def list_orgs(
    page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[accounts.OrganizationAnswer]]:
    """List the caller's organizations."""
    return listing("/api/orgs", ListPage[accounts.OrganizationAnswer], page, limit)


def create_org(name: str) -> Call[accounts.OrganizationAnswer]:
    """Create an organization that the caller owns."""
    body = written(checked(accounts.NewOrganization, "body", name=name))
    return Call("POST", "/api/orgs", accounts.OrganizationAnswer, 201, body=body, repeatable=False)


def get_org(org_id: Id) -> Call[accounts.OrganizationAnswer]:
    """Ask for one organization."""
    return Call("GET", org_path(org_id), accounts.OrganizationAnswer, 200)


def create_ci_key(org_id: Id, name: str) -> Call[accounts.CreatedCiKey]:
    """Create a CI key: the answer is the only one that ever holds it."""
    body = written(checked(accounts.NewCiKey, "body", name=name))
    path = f"{org_path(org_id)}/ci-keys"
    return Call("POST", path, accounts.CreatedCiKey, 201, body=body, repeatable=False)


def list_ci_keys(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[accounts.CiKeyAnswer]]:
    """List the CI keys, never their values."""
    return listing(f"{org_path(org_id)}/ci-keys", ListPage[accounts.CiKeyAnswer], page, limit)


def revoke_ci_key(org_id: Id, key_id: Id) -> Call[None]:
    """Revoke a CI key, at once; again changes nothing."""
    return Call("DELETE", f"{org_path(org_id)}/ci-keys/{segment(key_id)}", None, 204)


def audit_log(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[accounts.AuditEntryAnswer]]:
    """List who did what, newest first."""
    path = f"{org_path(org_id)}/audit-log"
    return listing(path, ListPage[accounts.AuditEntryAnswer], page, limit)
