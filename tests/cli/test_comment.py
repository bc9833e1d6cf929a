# SPDX-License-Identifier: Apache-2.0
"""`hwci comment`: a pull request from push to merge at each forge, with a real server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hwci.client import Client, calls
from tests.ci.forge_servers import DIALECTS, HEAD, MERGED, OURS, Dialect, ForgeServer, forge
from tests.cli.conftest import Answer, Command
from tests.support.answering import unused_url
from tests.support.clones import git
from tests.support.running import RunningServer

BEFORE = 8
"""Runs of main before the pull request."""


@pytest.fixture(scope="module")
def reader_key(server: RunningServer) -> str:
    with Client(server.url, token=server.token) as client:
        return client.send(calls.create_reader_key(server.org_id, "pull requests")).api_key


@pytest.fixture
def at_forge(request: pytest.FixtureRequest) -> Iterator[ForgeServer]:
    with forge(getattr(request, "param", "GitHub")) as served:
        yield served


class PullRequest:
    """A clone with a pull request, whose jobs run at a forge."""

    def __init__(self, cli: Command, at: ForgeServer, server: RunningServer, key: str) -> None:
        self.cli, self.at, self.here = cli, at, Path.cwd()
        environ = at.dialect.environ(at.address)
        self.repo_key = environ.get("GITHUB_REPOSITORY") or environ["CI_PROJECT_PATH"]
        self.suite = self.here.name  # the tests share a server
        self.settings = {"HWCI_URL": server.url, "HWCI_SUITE": self.suite}
        self.ci_key, self.reader_key, self.runs = server.ci_key, key, 0
        git(self.here, "init", "--quiet", "--initial-branch=main")
        (self.here / ".git/info/exclude").write_text("*")

    def commit(self, branch: str = "main") -> str:
        """Add a commit to a branch, and check it out."""
        if git(self.here, "branch", "--list", branch).strip():
            git(self.here, "checkout", "--quiet", branch)
        elif branch != "main":
            git(self.here, "checkout", "--quiet", "-b", branch)
        git(self.here, "commit", "--quiet", "--allow-empty", "-m", "Boot faster")
        return git(self.here, "rev-parse", "HEAD").strip()

    def report(self, branch: str, tests: str, base: str | None = None) -> None:
        """Report a run of what is checked out: a letter for each test, P or F."""
        cases = "".join(
            f'<testcase classname="hil" name="t{number}" time="1">'
            f"{'<failure/>' if outcome == 'F' else ''}</testcase>"
            for number, outcome in enumerate(tests)
        )
        Path("one.xml").write_text(f"<testsuite>{cases}</testsuite>")
        self.runs += 1
        trigger = "merge" if branch == "main" else "manual"
        words = ["--workflow", "hil", "--repo-key", self.repo_key, "--run-id", f"{self.runs}"]
        words += ["--branch", branch, "--trigger", trigger, "--box", "bench-1"]
        words += ["--base-sha", base] if base else []
        sent = {**self.settings, "HWCI_CI_KEY": self.ci_key}
        done = self.cli("report-run", *words, "--junit", "one.xml", "--strict", **sent)
        assert done.code == 0, done

    def comment(self, *flags: str, sha: str, recording: str = "", **more: str) -> Answer:
        """Run the command in a job for a commit."""
        environ = self.environ(recording, sha)
        keys = {"HWCI_READER_KEY": self.reader_key, **more}
        return self.cli("comment", *flags, **{**environ, **self.settings, **keys})

    def environ(self, recording: str, sha: str) -> dict[str, str]:
        dialect = self.at.dialect
        if recording:
            dialect = dialect._replace(recording=recording)
        environ = _of_commit(dialect, self.at.address, sha)
        if "GITHUB_EVENT_PATH" in environ:
            event = Path(environ["GITHUB_EVENT_PATH"]).read_text().replace(HEAD, sha)
            Path("event.json").write_text(event)
            environ["GITHUB_EVENT_PATH"] = "event.json"
        return environ


def _of_commit(dialect: Dialect, address: str, sha: str) -> dict[str, str]:
    hashes = {HEAD: sha, MERGED: sha, "6f1c1e4b2d3a49587766554433221100ffeeddcc": sha}
    return {name: hashes.get(text, text) for name, text in dialect.environ(address).items()}


@pytest.fixture
def pull(
    cli: Command, at_forge: ForgeServer, server: RunningServer, reader_key: str
) -> PullRequest:
    return PullRequest(cli, at_forge, server, reader_key)


@pytest.mark.parametrize("at_forge", DIALECTS, indirect=True)
def test_a_pull_request_has_one_comment_from_its_push_to_its_merge(pull: PullRequest) -> None:
    base = None
    for _ in range(BEFORE):
        sha = pull.commit()
        pull.report("main", "PPP", base)
        base = sha

    head = pull.commit("faster-boot")
    done = pull.comment("--strict", sha=head)
    assert done.code == 0, done
    assert "no run of this commit is known" in _body(pull)

    for _ in range(3):
        pull.report("faster-boot", "PFP", base)
    done = pull.comment("--strict", sha=head)
    assert (done.code, done.out) == (0, ""), done
    assert "1 failure of this change" in _body(pull)
    assert "<code>hil.t1</code>" in _body(pull)
    assert _status(pull, head) in {"failure", "failed"}

    mended = pull.at.head = pull.commit("faster-boot")
    pull.report("faster-boot", "PPP", base)
    assert pull.comment("--strict", sha=mended).code == 0
    assert "Hardware tests: no failure" in _body(pull)
    assert _status(pull, mended) == "success"

    assert pull.comment("--strict", sha=head).code == 0, "the older pipeline runs again"
    assert "Hardware tests: no failure" in _body(pull)

    git(pull.here, "checkout", "--quiet", "main")
    git(pull.here, "merge", "--quiet", "--ff-only", "faster-boot")
    pull.report("main", "PPP", base)
    push = f"{pull.at.dialect.recording.split('-')[0]}-push"
    before = _body(pull)
    assert pull.comment("--strict", sha=mended, recording=push).code == 0
    assert (_body(pull), _status(pull, mended)) == (before, "success")


def _body(pull: PullRequest) -> str:
    """Return the one comment of the pull request."""
    [row] = pull.at.comments
    assert row[pull.at.dialect.author] == {"id": OURS}
    return str(row["body"])


def _status(pull: PullRequest, sha: str) -> str:
    [*_, status] = pull.at.statuses[sha]
    assert f"hwci/{pull.suite}" in status.values()
    return str(status["state"])


def test_a_dry_run_prints_the_comment_and_calls_no_forge(pull: PullRequest) -> None:
    sha = pull.commit()
    pull.report("main", "PF")
    done = pull.comment("--dry-run", sha=sha, HWCI_FORGE_TOKEN="")

    assert done.code == 0, done
    assert done.out.startswith(f"<!-- hwci: acme%2Ffirmware%3A{pull.suite} {sha} -->\n")
    assert "hil.t1" in done.out
    assert pull.at.asked == []


def test_a_comment_names_no_other_product(pull: PullRequest) -> None:
    """The answer does, to help who wrote a name wrongly: that is for the log of the job."""
    sha, suite = pull.commit(), pull.suite
    pull.report("main", "P")
    pull.settings["HWCI_SUITE"] = "not-reported"
    done = pull.comment("--dry-run", sha=sha)

    assert done.code == 0, done
    assert "No run of it was reported in the last 30 days" in done.out
    assert suite not in done.out
    assert suite in done.err


@pytest.mark.parametrize(("strict", "code"), [(False, 0), (True, 5)])
def test_a_server_that_is_away_fails_no_build(pull: PullRequest, strict: bool, code: int) -> None:
    pull.settings["HWCI_URL"] = unused_url()
    done = pull.comment(*(["--strict"] * strict), sha=pull.commit())

    assert done.code == code
    assert done.err.startswith("error: " if strict else "warning: "), done
    assert pull.at.asked == []


@pytest.mark.parametrize(("strict", "code"), [(False, 0), (True, 1)])
def test_a_forge_that_refuses_fails_no_build(pull: PullRequest, strict: bool, code: int) -> None:
    done = pull.comment(*(["--strict"] * strict), sha=pull.commit(), HWCI_FORGE_TOKEN="wrong")

    assert done.code == code
    assert "was not written" in done.err
    assert "wrong" not in done.err


@pytest.mark.parametrize(
    "secrets",
    [
        {"HWCI_READER_KEY": ""},
        {"HWCI_READER_KEY": "rdr_\u20ac"},
        {"HWCI_READER_KEY": "rdr_wrong"},
        {"HWCI_URL": ""},
    ],
)
def test_a_build_without_the_secrets_fails_nothing_and_uses_no_ci_key(
    pull: PullRequest, secrets: dict[str, str]
) -> None:
    """As that of a fork."""
    pull.settings |= {"HWCI_CI_KEY": pull.ci_key}
    pull.settings.update((name, text) for name, text in secrets.items() if name == "HWCI_URL")
    done = pull.comment(sha=pull.commit(), **secrets)

    assert done.code == 0
    assert done.err.startswith("warning: ")
    assert pull.at.asked == []


@pytest.mark.parametrize("flags", [(), ("--dry-run",)])
def test_a_job_without_a_key_reads_with_no_sign_in_of_a_person(
    pull: PullRequest, server: RunningServer, flags: tuple[str, ...]
) -> None:
    sha = pull.commit()
    pull.report("main", "PF")
    person = {"HWCI_READER_KEY": "", "HWCI_TOKEN": server.token}
    done = pull.comment(*flags, sha=sha, **person)

    assert (done.code, done.out) == (0, ""), done
    assert "cause: HWCI_READER_KEY is not set" in done.err
    assert pull.at.asked == []

    at_desk = pull.cli(
        "comment", "--dry-run", "--repo-key", pull.repo_key, "--sha", sha, **pull.settings, **person
    )
    assert "hil.t1" in at_desk.out


def test_another_commit_than_the_ci_names_is_told(pull: PullRequest) -> None:
    sha = pull.commit()
    pull.commit()
    done = pull.comment("--dry-run", sha=sha)

    assert "warning: " in done.err
    assert sha[:12] not in done.out


def test_a_job_whose_commit_is_not_known_is_called_wrongly(cli: Command) -> None:
    done = cli("comment")

    assert done.code == 2
    assert "missing: repo_key, sha" in done.err
    assert done.out == ""
