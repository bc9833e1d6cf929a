# SPDX-License-Identifier: Apache-2.0
"""Links to other sites: which texts may be one (contract, "Fields of a report"), and templates of
them (contract, "Links").

An address is printable ASCII, so that it holds no command for a terminal and looks like what it is.
"""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

FAULT = (
    "Should be an address that begins with http:// or https://, in printable ASCII, without blanks "
    "and without a password"
)
_ADDRESS = re.compile(r"https?://[^/?#@\\]+(?:[/?#].*)?", re.IGNORECASE)


def is_address(text: str) -> bool:
    """Whether people may be sent to an address."""
    plain = text.isascii() and text.isprintable() and " " not in text
    return plain and _ADDRESS.fullmatch(text) is not None


# Templates: the dashboard fills them in (`parts/values/links.js`).

NEEDED = {"commit": "sha", "file": "path", "pull": "number"}
"""Each template, and the placeholder without which it leads to one place only."""
PLACEHOLDERS = {"repo", *("sha", "path", "number")}


def template_fault(kind: str, template: str) -> str | None:
    """Return why a template gives no address; None if it gives one."""
    names = set(re.findall(r"{([^{}]*)}", template))
    unknown = sorted(names - PLACEHOLDERS)
    if unknown:
        return f"{{{unknown[0]}}} is not a placeholder; known: {', '.join(sorted(PLACEHOLDERS))}"
    if NEEDED[kind] not in names:
        return f"Should hold {{{NEEDED[kind]}}}"
    filled = re.sub(r"{[^{}]*}", "x", template)
    host = re.match(r"https?://[^/?#]*", template, re.IGNORECASE)
    if not is_address(filled) or host is None or set("{}") & {*host[0], *filled}:
        return FAULT
    return None


_PATHS = {
    "github": ("commit/{sha}", "blob/{sha}/{path}", "pull/{number}"),
    "gitlab": ("-/commit/{sha}", "-/blob/{sha}/{path}", "-/merge_requests/{number}"),
    "bitbucket": ("commits/{sha}", "src/{sha}/{path}", "pull-requests/{number}"),
    "gitea": ("commit/{sha}", "src/commit/{sha}/{path}", "pulls/{number}"),
    "azure": ("commit/{sha}", "?path=/{path}&version=GC{sha}", "pullrequest/{number}"),
}
"""By what is in the name of a host: the paths of a commit, a file and a pull request."""
_ALSO = {"codeberg": "gitea", "forgejo": "gitea", "visualstudio": "azure"}
_SCP = re.compile(r"(?:[^@/]+@)?([^/:@]{2,}):(?!//)(.+)")


def guessed(remote: str) -> Mapping[str, str]:
    """Return the templates of the site that a remote of git lies on; none if it is not known."""
    scp = _SCP.fullmatch(remote)
    try:
        parts = urlsplit(f"ssh://{scp[1]}/{scp[2]}" if scp else remote)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return {}
    words = {**dict(zip(_PATHS, _PATHS, strict=True)), **_ALSO}
    site = next((words[word] for word in words if word in host), None)
    path = parts.path.strip("/").removesuffix(".git")
    if site is None or not path:
        return {}
    if host in {
        "ssh.dev.azure.com",
        "vs-ssh.visualstudio.com",
    }:  # v3/ORGANIZATION/PROJECT/REPOSITORY
        path, _, name = path.removeprefix("v3/").rpartition("/")
        host, path = "dev.azure.com", f"{path}/_git/{name}"
    web = parts.scheme in {"http", "https"}
    place = f"{parts.scheme if web else 'https'}://{host}{f':{port}' if web and port else ''}"
    base = f"{place}/{path}"
    templates = {
        kind: f"{base}{'' if end.startswith('?') else '/'}{end}"
        for kind, end in zip(NEEDED, _PATHS[site], strict=True)
    }
    valid = all(template_fault(kind, text) is None for kind, text in templates.items())
    return templates if valid else {}
