# SPDX-License-Identifier: Apache-2.0
"""The addresses of the dashboard's pages, and the module that draws each. All are one document;
which page it shows, the browser decides by the same table (`static/js/address.js`), and a test
holds the two together.
"""

from collections.abc import Mapping

_ORGANIZATION = "/orgs/{orgId}"

PAGES: Mapping[str, str] = {
    "/": "metrics",  # whoever is signed in goes on to their organization's
    "/sign-in": "sign_in",
    "/setup": "set_up",
    "/reset": "reset",
    "/account": "account",
    "/invitations": "invitations",
    _ORGANIZATION: "metrics",
    f"{_ORGANIZATION}/metrics": "metrics",
    f"{_ORGANIZATION}/failures": "failures",
    f"{_ORGANIZATION}/failures/{{failureId}}": "failure",
    f"{_ORGANIZATION}/runs": "runs",
    f"{_ORGANIZATION}/runs/{{runId}}": "run",
    f"{_ORGANIZATION}/boxes": "boxes",
    f"{_ORGANIZATION}/members": "members",
    f"{_ORGANIZATION}/audit-log": "audit_log",
}
