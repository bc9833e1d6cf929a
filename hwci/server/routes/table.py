# SPDX-License-Identifier: Apache-2.0
"""The route table: every route there is. The router and the OpenAPI document are made from it."""

from hwci.server.http.route import Route
from hwci.server.routes import (
    auth,
    ci_keys,
    ci_reports,
    failures,
    health,
    metrics,
    organizations,
)
from hwci.server.routes.openapi import with_document

ROUTES: tuple[Route, ...] = with_document(
    (
        *ci_reports.ROUTES,
        *auth.ROUTES,
        *organizations.ROUTES,
        *ci_keys.ROUTES,
        *metrics.ROUTES,
        *failures.ROUTES,
        *health.ROUTES,
    )
)
