# SPDX-License-Identifier: Apache-2.0
"""How the dashboard's files are served, asked without a browser."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hwci.server.web
from hwci.server.web.site import PAGES, POLICY, STYLES, Site
from tests.support.asking import Reply, ask
from tests.support.running import RunningServer, running_in_thread

STATIC = Path(hwci.server.web.__file__).with_name("static")
SITE = Site()
MAIN = SITE.base + "js/main.js"
HTML = ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
HARDENED = {
    "server": "hwci",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
SHOWN = {re.sub(r"{\w+}", "some-id", path): drawn_by for path, drawn_by in PAGES.items()}
SHOWN |= {path + "/": drawn_by for path, drawn_by in SHOWN.items() if path != "/"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("server")
    with running_in_thread(folder, rate_limit="50/minute") as found:
        yield found


SOURCES = {
    str(path.relative_to(STATIC)): path.read_bytes()
    for path in STATIC.rglob("*")
    if path.is_file() and path.parent.name != "css"
}
SOURCES["style.css"] = b"".join((STATIC / name).read_bytes() for name in STYLES)
SOURCES |= {name: script.encode() for name, script in SITE.scripts.items()}


def test_every_style_sheet_is_sent() -> None:
    assert sorted(STATIC / name for name in STYLES) == sorted((STATIC / "css").iterdir())


def get(server: RunningServer, path: str, *headers: Any, method: str = "GET") -> Reply:
    return ask(server.url, method, path, *headers)


@pytest.mark.parametrize(("path", "drawn_by"), SHOWN.items())
def test_every_page_is_the_document_asked_for_each_time(
    server: RunningServer, path: str, drawn_by: str
) -> None:
    reply = get(server, path)

    assert (reply.status, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert reply.body == SITE.documents[drawn_by].plain
    assert reply.headers["cache-control"] == "no-cache"
    assert reply.headers["content-security-policy"] == POLICY
    assert HARDENED.items() <= reply.headers.items()


def test_the_policy_loads_our_own_files_and_lets_nothing_stand_in_the_document() -> None:
    rules = dict(rule.split(" ", 1) for rule in POLICY.split("; "))

    assert rules["default-src"] == rules["base-uri"] == rules["frame-ancestors"] == "'none'"
    assert set(rules.values()) == {"'none'", "'self'", "'script'"}
    for file in (SITE.not_found, *SITE.documents.values()):
        document = file.plain.decode()
        assert re.findall(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", document) == []
        assert document.count("$") == 0, "every name is filled in"


@pytest.mark.parametrize("name", sorted(SITE.files))
def test_every_file_has_an_address_that_changes_with_it_and_is_kept_for_ever(
    server: RunningServer, name: str
) -> None:
    reply = get(server, SITE.base + name)

    assert reply.status == 200
    assert reply.body == SOURCES[name]
    assert reply.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert reply.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert HARDENED.items() <= reply.headers.items()


def test_a_change_of_one_file_changes_the_address_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Path.read_bytes

    def changed(path: Path) -> bytes:
        return read(path) + (b"\n" if path.name == "format.js" else b"")

    monkeypatch.setattr(Path, "read_bytes", changed)
    assert Site().base != SITE.base


@pytest.mark.parametrize("drawn_by", sorted(SITE.documents))
def test_a_document_names_files_that_there_are_and_the_module_of_its_page(
    server: RunningServer, drawn_by: str
) -> None:
    document = SITE.documents[drawn_by].plain.decode()
    named = re.findall(r'(?:href|src)="([^"]+)"', document)

    assert {get(server, path).status for path in named} == {200}
    assert SITE.base + f"js/pages/{drawn_by}.js" in named
    assert SITE.base + "style.css" in named


def test_a_document_names_the_renewal_of_the_sign_in_before_any_other_file() -> None:
    first = re.search(r"<(?:script|link)[^>]*>", SITE.not_found.plain.decode())

    assert first is not None
    for part in (f'src="{SITE.base}js/begin.js"', "async", 'fetchpriority="high"'):
        assert part in first[0]


def test_what_records_the_vendored_files_is_not_served(server: RunningServer) -> None:
    assert (STATIC / "vendor" / "vendor.toml").exists()
    assert get(server, SITE.base + "vendor/vendor.toml").status == 404


@pytest.mark.parametrize("path", ["/", MAIN])
@pytest.mark.parametrize("message", ["{tag}", "W/{tag}", '"other", {tag}', '"other",W/{tag}', "*"])
def test_what_a_browser_has_is_not_sent_again(
    server: RunningServer, path: str, message: str
) -> None:
    first = get(server, path)
    value = message.format(tag=first.headers["etag"])
    again = get(server, path, ("If-None-Match", value), ("Accept-Encoding", "gzip"))

    assert (again.status, again.body) == (304, b"")
    for name in ("etag", "cache-control", "vary"):
        assert again.headers[name] == first.headers[name]


@pytest.mark.parametrize("message", ['"other"', "tag", 'W/"other"', ""])
def test_what_a_browser_has_in_another_state_is_sent(server: RunningServer, message: str) -> None:
    assert get(server, MAIN, ("If-None-Match", message)).status == 200


CODINGS = {
    "gzip": True,
    "br, GZIP": True,
    "deflate, gzip;q=1.0, *;q=0.5": True,
    "gzip; q=0.1": True,
    "*": True,
    "gzip, *;q=0": True,
    "gzip;q=0": False,
    "gzip;q=0, *": False,
    "gzip;q=0.000": False,
    "identity": False,
    "xgzip": False,
    "": False,
}


@pytest.mark.parametrize(("given", "compressed"), CODINGS.items())
def test_files_are_compressed_for_who_takes_that(
    server: RunningServer, given: str, compressed: bool
) -> None:
    reply = get(server, MAIN, ("Accept-Encoding", given))

    assert ("content-encoding" in reply.headers) is compressed
    assert reply.headers["vary"] == "Accept-Encoding"
    body = gzip.decompress(reply.body) if compressed else reply.body
    assert body == SITE.scripts["js/main.js"].encode()


@pytest.mark.parametrize(
    "path",
    [
        "/static/",
        f"/static/{'0' * 16}/js/main.js",
        SITE.base,
        SITE.base + "js/",
        SITE.base + "index.html",
        SITE.base + "js/../js/main.js/x",
        SITE.base + "../../site.py",
        SITE.base + "..%2f..%2fsite.py",
        SITE.base + "js/%2e%2e/%2e%2e/pages.py",
        SITE.base + "//etc/passwd",
        SITE.base + "js/main.js%00.txt",
    ],
)
def test_no_path_reaches_the_disk(server: RunningServer, path: str) -> None:
    for headers in ((), (HTML,)):
        assert get(server, path, *headers).error == (404, "There is nothing at this address")


def test_nothing_is_read_from_the_disk_once_the_server_runs(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: object) -> bytes:
        raise AssertionError(path)

    for name in ("open", "read_bytes", "read_text"):
        monkeypatch.setattr(Path, name, refuse)
    assert get(server, MAIN).status == get(server, "/sign-in").status == 200


def test_head_gives_the_headers_alone(server: RunningServer) -> None:
    for path in ("/sign-in", MAIN):
        whole, head = get(server, path), get(server, path, method="HEAD")
        assert (head.status, head.body) == (200, b"")
        assert head.headers["content-length"] == str(len(whole.body))
        assert head.headers["etag"] == whole.headers["etag"]


@pytest.mark.parametrize("path", [*SHOWN, MAIN])
def test_a_page_is_only_read(server: RunningServer, path: str) -> None:
    for method in ("POST", "PUT", "DELETE"):
        reply = get(server, path, HTML, method=method)
        assert reply.error == (405, "This method is not allowed here")
        assert reply.headers["allow"] == "GET,HEAD"


def test_files_and_pages_are_not_counted_by_the_rate_limit(server: RunningServer) -> None:
    for path in ("/", MAIN):
        assert {get(server, path).status for _ in range(60)} == {200}


@pytest.mark.parametrize("path", ["/none", "/orgs", "/orgs/1/ci-keys", "/setup/x", "/API/x"])
def test_an_unknown_address_is_a_page_for_people_and_json_for_programs(
    server: RunningServer, path: str
) -> None:
    person = get(server, path, HTML, ("If-None-Match", "*"), ("Accept-Encoding", "gzip"))
    assert person.status == 404
    assert gzip.decompress(person.body) == SITE.not_found.plain
    assert person.headers["content-security-policy"] == POLICY

    for headers in ((), (("Accept", "*/*"),), (("Accept", "application/json"),)):
        assert get(server, path, *headers).error == (404, "There is nothing at this address")


def test_an_address_of_no_route_is_json_for_everybody(server: RunningServer) -> None:
    for path in ("/api/none", "/static/none"):
        assert get(server, path, HTML).error == (404, "There is nothing at this address")


def test_every_page_has_a_module_and_every_module_of_a_page_an_address() -> None:
    modules = {path.stem for path in (STATIC / "js/pages").glob("*.js")}

    assert modules - set(PAGES.values()) == {"no_organization"}  # in place of the metrics
    assert set(PAGES.values()) <= modules
    assert len(PAGES) == 20


def test_only_two_modules_ask_the_server() -> None:
    asking = {
        path.relative_to(STATIC / "js").as_posix()
        for path in (STATIC / "js").rglob("*.js")
        if re.search(
            r"\bfetch\s*\(|XMLHttpRequest|EventSource|WebSocket|sendBeacon", path.read_text()
        )
    }

    assert asking == {"api.js", "session.js"}


FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|javascript:"
    r"|[\s<]style=|\.style\b|setAttribute\(.style"
)


@pytest.mark.parametrize("path", sorted((STATIC / "js").rglob("*.js")), ids=lambda path: path.name)
def test_text_never_becomes_markup_or_code(path: Path) -> None:
    assert FORBIDDEN.findall(path.read_text()) == []
