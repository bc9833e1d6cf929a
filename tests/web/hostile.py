# SPDX-License-Identifier: Apache-2.0
"""A server that was told strings as if each were a name: in every free text of a report, as the
name of a person, an organization, a box and a key. What would run, would set `window.hacked`.
There are sixty; `make test` tells some of each kind, `make soak` all.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hwci.wire.limits import MESSAGE_MAX, NAME_MAX
from tests.support.asking import Header, ask, bearer, ci_key
from tests.support.joining import join
from tests.support.running import MEMBER_EMAIL, PASSWORD, RunningServer, report, running_in_thread
from tests.support.soak import rounds

_RUN = "window.hacked=1"
_MARKUP = (
    f"<script>{_RUN}</script>",
    f"</script><script>{_RUN}</script>",
    f"<SCRIPT SRC=//example.org/x.js></SCRIPT><script>{_RUN}",
    f"<img src=x onerror={_RUN}>",
    f'"><img src=x onerror="{_RUN}">',
    f"'><svg onload={_RUN}>",
    f"<svg><script>{_RUN}</script></svg>",
    f"<svg><animate onbegin={_RUN} attributeName=x dur=1s>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={_RUN}>",
    f'<math href="javascript:{_RUN}">CLICK</math>',
    f"<iframe srcdoc='<script>parent.{_RUN}</script>'></iframe>",
    f"<iframe src=javascript:parent.{_RUN}>",
    f"<body onload={_RUN}>",
    f"<details open ontoggle={_RUN}>",
    f"<input autofocus onfocus={_RUN}>",
    f"<a href='javascript:{_RUN}'>x</a>",
    "<base href=//example.org/>",
    "<meta http-equiv=refresh content=0;url=//example.org/>",
    f"<form action=javascript:{_RUN}><button>x</button></form>",
    f"<object data=javascript:{_RUN}></object>",
    f"<template><script>{_RUN}</script></template>",
    f"<noscript><p title='</noscript><img src=x onerror={_RUN}>'>",
    "<!--",
    "--><!-- ]]>",
    "<textarea></title></style>",
    f"<style>@import '//example.org/x.css';*{{background:url(javascript:{_RUN})}}</style>",
)
_ADDRESSES = (
    f"javascript:{_RUN}",
    f"JaVaScRiPt:{_RUN}//",
    f"java\tscript:{_RUN}",
    f"data:text/html,<script>parent.{_RUN}</script>",
    "//example.org/",
    "../../../../etc/passwd",
    "..%2f..%2fsign-in?next=//example.org",
    "%00%0d%0aSet-Cookie:%20x=1",
    "?other=open&days=7#flaky",
)
# of templates, styles, shells, queries
_LANGUAGES = (
    f"${{{_RUN}}}",
    f"`+({_RUN})+`",
    f"{{{{constructor.constructor('{_RUN}')()}}}}",
    f"<%= {_RUN} %>",
    f"#{{{_RUN}}}",
    f"expression({_RUN})",
    "x;}*{display:none}",
    "'; DROP TABLE run; --",
    "$(reboot) `reboot` | reboot &",
    "\\\"'\\x3cscript\\x3e\\u003cb\\u003e",
    "&lt;script&gt;&amp;&#x3c;b&#62;",
)
_OBJECTS = (
    "__proto__",
    "constructor",
    "toString",
    "null",
)
_HARD_TO_SHOW = (
    "\u202egnp.exe\u202d \u2066left\u2069 \u200frtl",
    "zero\u200bwidth\u200c\u200d\ufeffjoiner",
    "\x01\x02\x07\x08\x0b\x0c\x1b[31mred\x7f\x85",
    "line\r\nbreak\u2028and\u2029paragraph",
    "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d" * 20,
    "اختبار على לוח \u05d0 漢字 テスト",
    "👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿👍🏿",
    "W" * 255,
    "﷽" * 60,
    "  leading, trailing and    inner  spaces  ",
)
SIXTY: Sequence[str] = (*_MARKUP, *_ADDRESSES, *_LANGUAGES, *_OBJECTS, *_HARD_TO_SHOW)
_SOME = (*_MARKUP[::4], *_ADDRESSES[::3], *_LANGUAGES[::3], *_OBJECTS[::2], *_HARD_TO_SHOW[1::2])
TEXTS: Sequence[str] = rounds(_SOME, SIXTY)
GUEST = MEMBER_EMAIL
"""Who is invited to an organization of each name."""
START = datetime.now(UTC).replace(microsecond=0) - timedelta(days=2)  # noqa: TID251 - of now


@contextmanager
def hostile_server(folder: Path) -> Iterator[RunningServer]:
    """Run a server that was told all of `TEXTS`."""
    with running_in_thread(folder) as server:
        reporter = _Reporter(server)
        for number, text in enumerate(TEXTS):
            reporter.by_ci(number, text)
            reporter.by_people(number, text)
        reporter.reviewed()
        yield server


class _Reporter:
    def __init__(self, server: RunningServer) -> None:
        self._server = server
        self._reviewers: dict[str, str] = {}

    def by_ci(self, number: int, text: str) -> None:
        """A merge that never ran, and tests that failed once."""
        product = {"repo_key": text, "suite": text}
        paths = {"firmware_paths": ["**"], "harness_paths": [], "merge_trigger": True}
        self._ci("PUT", "suite-config", {**product, **paths})
        merge = {"sha": _sha(number, "d"), "branch": text, "merged_at": START.isoformat()}
        self._ci("POST", "merge-announce", {**product, **merge})
        for step, outcome in enumerate(("pass", "fail", "pass")):
            self._ci("POST", "run-report", {**_run(number, step, text, outcome), **product})

    def by_people(self, number: int, text: str) -> None:
        """A person who may review, an organization, a box and a key of this name."""
        email = f"reviewer{number}@example.org"
        person = {"email": email, "password": PASSWORD, "name": text, "organization": text}
        made = self._ask("POST", "/api/auth/register", person)
        self._reviewers[text] = made["accessToken"]
        owner = bearer(self._server.token)
        made_by_owner = self._ask("POST", "/api/orgs", {"name": text}, owner)
        invited = {"email": GUEST, "role": "admin"}
        self._ask("POST", f"/api/orgs/{made_by_owner['id']}/invites", invited, owner)
        join(
            self._server.url,
            str(self._server.org_id),
            self._server.token,
            made["accessToken"],
            "admin",
        )
        self._own("POST", "boxes", {"name": text})
        self._own("POST", "box-notes", {"boxKey": text, "text": text})
        until = (datetime.now(UTC) + timedelta(days=9)).isoformat()  # noqa: TID251 - the server's
        rule = {"ticket": text, "testId": text, "until": until}
        self._own("POST", "known-failures", rule)
        self._own("POST", "ci-keys", {"name": text})

    def reviewed(self) -> None:
        """Each person confirms the failure of the bench that has their name."""
        found = self._own("GET", "ci-metrics/other-failures?search=reviewed&limit=100")
        for row in found["items"]:
            path = f"/api/orgs/{self._server.org_id}/ci-failures/{row['id']}/confirm"
            self._ask("POST", path, None, bearer(self._reviewers[row["repoKey"]]))

    def _own(self, method: str, path: str, body: Any = None) -> Any:
        path = f"/api/orgs/{self._server.org_id}/{path}"
        return self._ask(method, path, body, bearer(self._server.token))

    def _ci(self, method: str, path: str, body: Mapping[str, Any]) -> None:
        self._ask(method, f"/api/ci/{path}", body, ci_key(self._server.ci_key))

    def _ask(self, method: str, path: str, body: Any, *headers: Header) -> Any:
        answer = ask(self._server.url, method, path, *headers, json_body=body)
        assert answer.status < 300, (answer.body, body)
        return answer.json if answer.body else None


def ids_of(text: str) -> tuple[str, str, str]:
    """Return the tests of a text: a firmware bug, one of the bench, and one that was reviewed."""
    return (text, f"bench {text}", f"reviewed {text}")


def three_from(text: str) -> Sequence[str]:
    """Return the text and the next two, which the commits of its runs say: of every third, all."""
    number = TEXTS.index(text)
    return [TEXTS[(number + step) % len(TEXTS)] for step in range(3)]


def _run(number: int, step: int, text: str, outcome: str) -> dict[str, Any]:
    """Return a run on one of the commits a, b and c, each after the one before."""
    start = START + timedelta(minutes=10 * step)
    item = {"outcome": outcome, "attempts": 1, "duration_s": 1.5}
    if outcome == "fail":
        item |= {"message": text[:MESSAGE_MAX], "board": text[:NAME_MAX]}
    verdicts = ("device", "infra", "infra") if outcome == "fail" else ("unknown",) * 3
    sha = _sha(number, "abc"[step])
    three = three_from(text)
    commits = [
        {"sha": _sha(number, "abc"[step] + "1" * place), "subject": said, "files": three}
        for place, said in enumerate(three)
    ]
    return report(
        workflow=text,
        branch=text,
        box_key=text,
        sha=sha,
        run_id=10 * number + step,
        started_at=start.isoformat(),
        ended_at=(start + timedelta(minutes=1)).isoformat(),
        conclusion=text[:50],
        tests=[
            {**item, "id": test_id, "verdict": verdict}
            for test_id, verdict in zip(ids_of(text), verdicts, strict=True)
        ],
        changes={"base_sha": _sha(number, "abc"[step - 1]), "commits": commits} if step else None,
    )


def _sha(number: int, letter: str) -> str:
    return f"{number:02}{letter}".ljust(40, "0")


def in_address(text: str) -> str:
    """Write a text into an address."""
    return quote(text, safe="")
