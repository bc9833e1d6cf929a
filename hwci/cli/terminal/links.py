# SPDX-License-Identifier: Apache-2.0
"""Links in a terminal: which words of an answer lead where (contract, "Links").

A hash leads to its commit, a file to its content at the latest commit of the answer that changed
it, the number of a run to its CI job. What was drawn is searched for these words, so that no table
knows of links. The dashboard fills in the same templates (`parts/values/links.js`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hwci.said import short, shortest
from hwci.wire.links import is_address

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hwci.contract.runs.products import Links

    Templates = Mapping[str, Links]  # by repository

_SHAS = ("sha", "last_failing_sha", "commit", "start", "end", "base_sha", "covers_shas")
_USUAL = re.compile(r"run \d+ attempt \d+|\d+ \(\d+\)|(?:[\w/-]|\.(?!\.))*\w")
"""What words look like, to be looked up: to try each at each place takes long in a long table."""
_LINK = "\x1b]8;;{}\x1b\\{}\x1b]8;;\x1b\\"


def addresses(answer: object, templates: Templates) -> Mapping[str, str]:
    """Return where the words of an answer lead, by the words as tables and sections write them."""
    from hwci.wire.codec import plain

    fields = plain(answer if isinstance(answer, Sequence) else [answer], by_alias=False)
    repo = next(_values(fields, "repo_key"), "")
    links = dict(_found(fields, repo, templates))
    return {word: address for word, address in links.items() if is_address(address)}


def linked(text: str, words: Mapping[str, str]) -> str:
    """Make each of these words in a drawn text a link, as terminals read it (OSC 8)."""
    unusual = sorted((word for word in words if not _USUAL.fullmatch(word)), key=len, reverse=True)
    pattern = "|".join([*map(re.escape, unusual), _USUAL.pattern])
    return re.sub(
        rf"(?<![\w./-])(?:{pattern})(?![\w/-])",
        lambda word: _LINK.format(words[word[0]], word[0]) if word[0] in words else word[0],
        text,
    )


def _values(value: object, name: str) -> Iterator[Any]:
    """Yield the values of a field, wherever it stands."""
    if isinstance(value, list):
        for item in value:
            yield from _values(item, name)
    elif isinstance(value, dict):
        if name in value:
            yield value[name]
        for item in value.values():
            yield from _values(item, name)


def _found(value: object, repo: str, templates: Templates) -> Iterator[tuple[str, str]]:
    """Yield the words of an answer with their addresses. A repository counts for all below it."""
    if isinstance(value, list):
        for item in value:
            yield from _found(item, repo, templates)
    elif isinstance(value, dict):
        repo = value.get("repo_key") or repo
        links = templates.get(repo)
        if links is not None:
            yield from _commits(value, repo, links)
        yield from _job(value)
        for item in value.values():
            yield from _found(item, repo, templates)


def _commits(value: Mapping[str, Any], repo: str, links: Links) -> Iterator[tuple[str, str]]:
    for name in _SHAS:
        shas = value.get(name)
        for sha in shas if isinstance(shas, list) else [shas]:
            if links.commit and isinstance(sha, str):
                address = _filled(links.commit, repo=repo, sha=sha)
                yield from ((word, address) for word in (sha, short(sha), shortest(sha)))
    sha, files = value.get("sha"), value.get("files")
    for file in files if links.file and isinstance(files, list) else ():
        path = file if isinstance(file, str) else file["path"]
        yield path, _filled(str(links.file), repo=repo, sha=str(sha), path=path)


def _job(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the number of a run, as lists and sections write it."""
    address, attempt = value.get("ci_url"), value.get("run_attempt")
    if address is not None and attempt is not None:
        run = value["run_id"] if value.get("ci_run") is None else value["ci_run"]
        yield f"{run} ({attempt})", address
        yield f"run {run} attempt {attempt}", address


def _filled(template: str, **values: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda name: quote(values.get(name[1], "")), template)
