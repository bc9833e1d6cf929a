# SPDX-License-Identifier: Apache-2.0
"""The rules by which failures are known."""

from hwci.contract.known_failures import KnownFailure
from hwci.contract.shape import ListPage
from hwci.wire.endpoint import Endpoint, Who
from hwci.wire.known_failures import NewKnownFailure
from hwci.wire.queries import PageQuery

# fmt: off
LIST_KNOWN_FAILURES = Endpoint(
    "known_failures.list", "GET", "/api/orgs/{orgId}/known-failures", Who.MEMBER,
    "List the rules by which failures are known, the first made first", query=PageQuery,
    answer=ListPage[KnownFailure]
)
ADD_KNOWN_FAILURE = Endpoint(
    "known_failures.add", "POST", "/api/orgs/{orgId}/known-failures", Who.MEMBER,
    "Call failures known until a time, those of before too; no label and no count changes",
    body=NewKnownFailure, answer=KnownFailure, status=201, also=(409,), repeatable=False
)
REMOVE_KNOWN_FAILURE = Endpoint(
    "known_failures.remove", "DELETE", "/api/orgs/{orgId}/known-failures/{ruleId}", Who.MEMBER,
    "Remove a rule: its failures are known no more", status=204
)
# fmt: on
