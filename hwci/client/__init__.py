# SPDX-License-Identifier: Apache-2.0
"""The typed client: `client.send(calls.metrics(org_id))`, synchronous or asynchronous.

`calls` has one function per endpoint; each gives a `Call`, a value that says what to send and
what the answer is. `Client` and `AsyncClient` send calls and know no endpoint; a `Session` keeps
the sign-in of a person for them. Errors are in `errors`. What reports are made of and what
answers hold can be imported from here, too. Importing this package imports none of these until
they are asked for, so that a synchronous caller never pays for aiohttp.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hwci.client import calls, errors
    from hwci.client._aio import AsyncClient
    from hwci.client._call import Call
    from hwci.client._sync import Client
    from hwci.client.errors import HwciError
    from hwci.client.session import Session
    from hwci.contract.failures.failures import Failure, FailureEvidence, ResolvedFailure
    from hwci.contract.flaky.flaky_tests import FlakyTest
    from hwci.contract.page.metrics import MetricsPage
    from hwci.contract.runs.merges import Merge
    from hwci.contract.runs.products import Product, SuiteConfig
    from hwci.contract.runs.runs import Run, RunDetail, RunEvent
    from hwci.contract.shape import ListPage
    from hwci.contract.vocabulary import (
        FailureClass,
        Label,
        Outcome,
        Role,
        RunEventType,
        RunStatus,
        Trigger,
        Verdict,
    )
    from hwci.wire.reports import (
        Changes,
        CommitItem,
        MergeAnnouncement,
        RunReport,
        SuiteConfiguration,
        TestItem,
    )

__all__ = [
    "AsyncClient",
    "Call",
    "Changes",
    "Client",
    "CommitItem",
    "Failure",
    "FailureClass",
    "FailureEvidence",
    "FlakyTest",
    "HwciError",
    "Label",
    "ListPage",
    "Merge",
    "MergeAnnouncement",
    "MetricsPage",
    "Outcome",
    "Product",
    "ResolvedFailure",
    "Role",
    "Run",
    "RunDetail",
    "RunEvent",
    "RunEventType",
    "RunReport",
    "RunStatus",
    "Session",
    "SuiteConfig",
    "SuiteConfiguration",
    "TestItem",
    "Trigger",
    "Verdict",
    "calls",
    "errors",
]

_HOMES = {
    "hwci.client._aio": "AsyncClient",
    "hwci.client._call": "Call",
    "hwci.client._sync": "Client",
    "hwci.client.errors": "HwciError",
    "hwci.client.session": "Session",
    "hwci.contract.failures.failures": "Failure FailureEvidence ResolvedFailure",
    "hwci.contract.flaky.flaky_tests": "FlakyTest",
    "hwci.contract.runs.merges": "Merge",
    "hwci.contract.page.metrics": "MetricsPage",
    "hwci.contract.runs.products": "Product SuiteConfig",
    "hwci.contract.runs.runs": "Run RunDetail RunEvent",
    "hwci.contract.shape": "ListPage",
    "hwci.contract.vocabulary": (
        "FailureClass Label Outcome Role RunEventType RunStatus Trigger Verdict"
    ),
    "hwci.wire.reports": (
        "Changes CommitItem MergeAnnouncement RunReport SuiteConfiguration TestItem"
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
