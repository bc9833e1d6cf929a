# SPDX-License-Identifier: Apache-2.0
"""The route table: every route there is. The router and the OpenAPI document are made from it."""

from hwci.server.http.route import Route
from hwci.server.routes import (
    auth,
    bench,
    boxes,
    ci_keys,
    ci_reports,
    failures,
    health,
    invitations,
    members,
    metrics,
    organizations,
    own_account,
    runs,
    sso,
)
from hwci.server.routes.openapi import with_document

ROUTES: tuple[Route, ...] = with_document(
    (
        *ci_reports.ROUTES,
        *auth.ROUTES,
        *own_account.ROUTES,
        *sso.ROUTES,
        *organizations.ROUTES,
        *members.ROUTES,
        *invitations.ROUTES,
        *ci_keys.ROUTES,
        *boxes.ROUTES,
        *bench.ROUTES,
        *runs.ROUTES,
        *metrics.ROUTES,
        *failures.ROUTES,
        *health.ROUTES,
    )
)
