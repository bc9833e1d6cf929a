# SPDX-License-Identifier: Apache-2.0
"""The dashboard's pages and files, served from memory under a name that changes with their content.

The files in `static` with a known suffix are read once, at the start, so no path of a request
reaches the disk. This module decides what a browser may load and how long it keeps it; `modules.py`
decides how modules are joined, `static/js` what a page does.
"""

import gzip
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from importlib.resources.abc import Traversable
from string import Template

from aiohttp import hdrs, web
from aiohttp.typedefs import Middleware
from multidict import istr

from hwci.server.http.headers import GZIP, takes_gzip
from hwci.server.http.responses import takes_page
from hwci.server.web.modules import joined, loaded_with

_STATIC = files(__package__) / "static"
_HOME_DRAWN_BY = "metrics"
"""The page at `/` leads a signed-in person to the metrics of their organization."""


def _pages(module: str) -> Mapping[str, str]:
    """Return the addresses of the pages, and the module that draws each, of the browser's table."""
    table = json.loads(module.partition("ROUTES = ")[2].partition(";")[0])
    return {
        path: _HOME_DRAWN_BY if page == "home" else page.replace("-", "_")
        for path, page in table.items()
    }


PAGES = _pages((_STATIC / "js/routes.js").read_text())
"""The addresses of the pages, and the module that draws each. All are one document; the browser
decides by the same table which page it shows.
"""

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
"""What the document may load: our own files, and no inline script or style."""

_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
_FOREVER = "public, max-age=31536000, immutable"
_REVALIDATE = "no-cache"
_DOCUMENT = "index.html"
_START = ("js/begin.js", "js/main.js")
_VENDOR = "vendor/"
_NAMES_VENDORED = "js/html.js"
"""The one module that imports vendored modules; it and they are served unchanged."""
_STYLE = "style.css"
STYLES = tuple(
    f"css/{name}.css"
    for name in ("tokens", "layout", "parts", "values", "pages", "failure", "runs", "test")
)
"""Sent as one file, in this order: each further file would delay a page by a request."""
_HASH_CHARACTERS = 16
_COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*\*(?:[^*]|\*(?!/))*\*/)[ \t]*$", re.MULTILINE)
"""A comment on lines of its own; a line of a text that begins so would be taken for one."""

_FOR_PROGRAMS = ("/api/", "/static/", "/dist/")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class File:
    """A file as it is sent, plain and compressed. `tag`: changes with what it holds."""

    media: str
    plain: bytes
    compressed: bytes
    tag: str

    @classmethod
    def of(cls, name: str, data: bytes) -> "File":
        """Return a file; the suffix of its name decides its type."""
        suffix = name[name.rindex(".") :]
        digest = hashlib.sha256(data).hexdigest()[:_HASH_CHARACTERS]
        return cls(_TYPES[suffix], data, gzip.compress(data, mtime=0), digest)


class Site:
    """The document and its files, as they are in the package. `documents`: one for each page, by
    the module that draws it; they differ in the modules that they name.
    """

    def __init__(self) -> None:
        sources = dict(_walk(_STATIC, ""))
        page = Template(sources.pop(_DOCUMENT).decode())
        sources[_STYLE] = b"".join(sources.pop(name) for name in STYLES)
        modules = {name: sources.pop(name).decode() for name in sorted(sources) if _is_module(name)}
        apart = list(filter(_is_apart, modules))
        self.scripts = joined(
            {
                name: text if name in apart else _without_comments(text)
                for name, text in modules.items()
            },
            _START,
            apart,
        )
        sources |= {name: script.encode() for name, script in self.scripts.items()}
        served = {name: File.of(name, data) for name, data in sources.items()}
        self.base = f"/static/{_version(served)}/"
        self.files: Mapping[str, File] = served
        self.not_found = self._document(page, _START)
        self.documents: Mapping[str, File] = {
            drawn_by: self._document(page, (*_START, f"js/pages/{drawn_by}.js"))
            for drawn_by in PAGES.values()
        }

    def _document(self, page: Template, first: Iterable[str]) -> File:
        """Name the files in the document, so that modules are loaded side by side."""
        preloads = "\n    ".join(
            f'<link rel="modulepreload" href="{self.base}{name}">'
            for name in loaded_with(first, self.scripts)
        )
        return File.of(_DOCUMENT, page.substitute(base=self.base, preloads=preloads).encode())


@cache
def the_site() -> Site:
    """The site of this package, whose modules are joined once in a process."""
    return Site()


def add_site(app: web.Application) -> None:
    """Serve the dashboard's pages and files, and the document to people at an unknown address."""
    site = the_site()
    for path, drawn_by in PAGES.items():
        page = _sender(site.documents[drawn_by], _REVALIDATE, policy=POLICY)
        for address in {path, path.rstrip("/") + "/"}:  # with a slash at its end: the same page
            app.router.add_get(address, page)
    for name, file in site.files.items():
        app.router.add_get(site.base + name, _sender(file, _FOREVER))
    not_found = _sender(site.not_found, _REVALIDATE, policy=POLICY, status=HTTPStatus.NOT_FOUND)
    app.middlewares.append(_page_for_people(not_found))


def _page_for_people(page: Handler) -> Middleware:
    @web.middleware
    async def answered(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except web.HTTPNotFound:
            if request.path.startswith(_FOR_PROGRAMS) or not takes_page(request):
                raise
        return await page(request)

    return answered


def _sender(
    file: File, keep: str, policy: str | None = None, status: HTTPStatus = HTTPStatus.OK
) -> Handler:
    tag = f'"{file.tag}"'
    headers = {hdrs.CACHE_CONTROL: keep, hdrs.VARY: hdrs.ACCEPT_ENCODING, hdrs.ETAG: tag}
    if policy is not None:
        headers[istr("Content-Security-Policy")] = policy

    async def send(request: web.Request) -> web.StreamResponse:
        if status == HTTPStatus.OK and _has(request, tag):
            return web.Response(status=HTTPStatus.NOT_MODIFIED, headers=headers)
        body, own = file.plain, dict(headers)
        if takes_gzip(request):
            body, own[hdrs.CONTENT_ENCODING] = file.compressed, GZIP
        return web.Response(
            body=body, status=status, content_type=file.media, charset="utf-8", headers=own
        )

    return send


def _without_comments(module: str) -> str:
    """Return a module without its comments, a quarter of it. Its lines keep their numbers."""
    return _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), module)


def _has(request: web.Request, tag: str) -> bool:
    """Return whether the browser has this version. Both codings have one tag; `Vary` separates
    them.
    """
    known = ",".join(request.headers.getall(hdrs.IF_NONE_MATCH, []))
    return any(value.strip().removeprefix("W/") in {tag, "*"} for value in known.split(","))


def _is_module(name: str) -> bool:
    return name.startswith(("js/", _VENDOR)) and name.endswith(".js")


def _is_apart(name: str) -> bool:
    return name.startswith(_VENDOR) or name == _NAMES_VENDORED


def _walk(folder: Traversable, prefix: str) -> "list[tuple[str, bytes]]":
    files: list[tuple[str, bytes]] = []
    for entry in sorted(folder.iterdir(), key=lambda path: path.name):
        if entry.is_dir():
            files += _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name[entry.name.rfind(".") :] in _TYPES:
            files.append((prefix + entry.name, entry.read_bytes()))
    return files


def _version(served: Mapping[str, File]) -> str:
    """Return a hash of all files: modules import each other, so all addresses change together."""
    state = "".join(f"{name} {file.tag}\n" for name, file in sorted(served.items()))
    return hashlib.sha256(state.encode()).hexdigest()[:_HASH_CHARACTERS]
