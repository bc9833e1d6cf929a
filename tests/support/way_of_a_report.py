# SPDX-License-Identifier: Apache-2.0
"""The way of a report from `hwci report-run` to the wire, followed call by call in a real run: in
a job of GitHub Actions, in a git repository, with a JUnit file, against an HTTP server.

    python tests/support/way_of_a_report.py

prints it. On the way is what reads something of the job (a file, git), makes or writes the report,
uses the bench store or sends; and what calls that. Each is counted once, up to the first send of
the body:

- calls: from a function to one of another file
- files: that these functions stand in
- climbs: where the next function on the way stands in a room above the one before, in the order
  cli, bench, ci, client
- depth: of the calls at the moment of sending, all files included

With PYTHONPATH set to another checkout of hwci it follows the way there.
"""

import os
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Self

ROOMS = ("cli", "bench", "ci", "client")
GENERATED = {"<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>"}
TESTS = 300
"""Enough that the body is compressed."""


@dataclass(eq=False)
class Call:
    """A call of a function of hwci. `acts`: it does itself what makes it a part of the way."""

    code: CodeType | None
    file: str
    caller: "Call | None"
    acts: bool = False
    calls: "list[Call]" = field(default_factory=list)

    @property
    def room(self) -> int:
        """The room of its file, counted from above."""
        room = self.file.split("/")[0]
        return ROOMS.index(room) if room in ROOMS else len(ROOMS)

    @property
    def name(self) -> str:
        """Function and file."""
        return f"{self.code.co_qualname if self.code else ''} ({self.file})"

    def on_the_way(self) -> bool:
        """Return whether it acts, or calls what does."""
        return self.acts or any(call.on_the_way() for call in self.calls)

    def depth(self) -> int:
        """Return how many calls lead here."""
        return 0 if self.caller is None else 1 + self.caller.depth()


class Follower:
    """Follows the calls of one thread until the body of a report is sent."""

    def __init__(self, package: Path, home: Path) -> None:
        self._package, self._home = f"{package}{os.sep}", str(home)
        self._thread = threading.get_ident()
        self.top = self._at = Call(None, "", None)
        self.over = False

    def __enter__(self) -> Self:
        sys.addaudithook(self._audited)
        sys.setprofile(self._profiled)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _profiled(self, frame: FrameType, event: str, _: object) -> None:
        if self.over or event not in {"call", "return"}:
            return
        code = frame.f_code
        if event == "call" and code.co_name in {"model_validate", "model_dump_json"}:
            model = frame.f_locals.get("cls", type(frame.f_locals.get("self")))
            self._at.acts |= model.__name__ == "RunReport"
        if not code.co_filename.startswith(self._package) or code.co_name in GENERATED:
            return
        if event == "return":
            if self._at.code is code and self._at.caller is not None:
                self._at = self._at.caller
        elif not _is_import(frame):
            call = Call(code, code.co_filename.removeprefix(self._package), self._at)
            self._at.calls.append(call)
            self._at = call

    def _audited(self, event: str, given: tuple[Any, ...]) -> None:
        if self.over or threading.get_ident() != self._thread:
            return
        if event == "open" and isinstance(given[0], str | bytes | os.PathLike):
            path = os.path.join(os.getcwd(), os.fsdecode(given[0]))  # noqa: PTH109, PTH118 - text
            self._at.acts |= path.startswith(self._home)
        elif event in {"subprocess.Popen", "sqlite3.connect", "socket.connect", "os.rename"}:
            self._at.acts = True
        elif event == "http.client.send":
            self._at.acts = True
            self.over = not bytes(given[1]).startswith(b"POST ")  # the head goes before the body


def _is_import(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__") != "__main__"


@dataclass
class Way:
    """The way of a report. `order`: the first call of each function on it."""

    order: list[Call] = field(default_factory=list)
    calls: set[tuple[CodeType | None, CodeType | None]] = field(default_factory=set)
    depth: int = 0

    @property
    def files(self) -> list[str]:
        """The files in their order."""
        return list(dict.fromkeys(call.file for call in self.order))

    @property
    def climbs(self) -> list[tuple[Call, Call]]:
        """Where it goes back into a room above."""
        steps = zip(self.order, self.order[1:], strict=False)
        return [(before, after) for before, after in steps if after.room < before.room]

    def follow(self, call: Call) -> None:
        """Add a call, and what it calls."""
        if all(known.code is not call.code for known in self.order):
            self.order.append(call)
        for one in filter(Call.on_the_way, call.calls):
            if one.file != call.file:
                self.calls.add((call.code, one.code))
            self.follow(one)

    def __str__(self) -> str:
        first = self.order[0].depth()
        lines = ["  " * (call.depth() - first) + call.name for call in self.order]
        lines += [f"climbs from {one.name} to {other.name}" for one, other in self.climbs]
        numbers = {
            "functions": len(self.order),
            "calls": len(self.calls),
            "files": len(self.files),
            "climbs": len(self.climbs),
            "depth": self.depth,
        }
        return "\n".join([*lines, ", ".join(f"{what} {many}" for what, many in numbers.items())])


class _Taking(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def _git(*words: str) -> str:
    options = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    return subprocess.run(
        ["git", *options, *words], check=True, capture_output=True, text=True
    ).stdout.strip()


def job(home: Path, url: str) -> None:
    """Make a job of GitHub Actions in this process: its folder, and its environment."""
    checkout = home / "checkout"
    checkout.mkdir()
    os.chdir(checkout)
    _git("init", "--quiet", "--initial-branch=main")
    product = 'suite = "sensor-fw"\nfirmware_paths = ["src/*"]\nharness_paths = ["tests/*"]\n'
    (checkout / "hwci.toml").write_text(f"[[product]]\n{product}")
    (checkout / ".gitignore").write_text("*.xml\n")
    for number in range(4):
        (checkout / f"{number}.c").write_text("")
        _git("add", ".")
        _git("commit", "--quiet", "--message", f"Change {number}")
    cases = (
        f'<testcase classname="t" name="{number}" time="1">'
        f"{'<failure/>' if number % 50 == 0 else ''}</testcase>"
        for number in range(TESTS)
    )
    suite = f'timestamp="2026-01-31T09:30:00Z" time="{TESTS}"'
    (checkout / "results.xml").write_text(f"<testsuite {suite}>{''.join(cases)}</testsuite>")
    event = home / "event.json"
    event.write_text(f'{{"before": "{_git("rev-parse", "HEAD~2")}", "ref": "refs/heads/main"}}')
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    os.environ.clear()
    os.environ.update(kept, HOME=str(home), HWCI_URL=url, HWCI_CI_KEY="key", RUNNER_NAME="bench")
    of_github = {
        "ACTIONS": "true",
        "EVENT_NAME": "push",
        "EVENT_PATH": str(event),
        "JOB": "hardware",
        "REF": "refs/heads/main",
        "REF_NAME": "main",
        "REPOSITORY": "acme/firmware",
        "RUN_ATTEMPT": "1",
        "RUN_ID": "4711",
        "RUN_NUMBER": "7",
        "SERVER_URL": "https://github.com",
        "SHA": _git("rev-parse", "HEAD"),
        "WORKFLOW": "hil",
    }
    os.environ.update({f"GITHUB_{name}": value for name, value in of_github.items()})


def followed() -> Way:
    """Report a run, and return the way of its report."""
    import hwci
    from hwci.cli.main import main

    server = HTTPServer(("127.0.0.1", 0), _Taking)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        job(home, f"http://127.0.0.1:{server.server_port}")
        flags = ("--box", "bench", "--base-sha", "HEAD~2", "--junit", "results.xml")
        sys.argv = ["hwci", "report-run", *flags]
        follower = Follower(Path(hwci.__file__).parent, home)
        try:
            with follower:
                main()
        except SystemExit:
            pass
        os.chdir("/")
    assert follower.over, "the report was sent"
    way = Way(depth=follower._at.depth())
    way.follow(_command(follower.top))
    return way


def _command(call: Call) -> Call:
    """Return the call of the command itself."""
    while call.code is None or call.code.co_name != "report_run":
        call = next(filter(Call.on_the_way, call.calls))
    return call


if __name__ == "__main__":
    print(followed())  # noqa: T201 - this is what it is for
