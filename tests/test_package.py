# SPDX-License-Identifier: Apache-2.0
"""The wheel runs without the checkout, and an index shows its README with links that work."""

import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
from collections.abc import Iterator, Sequence
from email import message_from_string
from io import BytesIO
from pathlib import Path
from urllib.request import urlopen
from zipfile import ZipFile

import pytest

import hwci
import hwci.server.web
from hwci.server.services.wheels import make_wheel
from hwci.version import package_files

ROOT = Path(__file__).parents[1]
STATIC = Path(hwci.server.web.__file__).with_name("static")
SECONDS = 60


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    (built,) = dist.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of a new environment with the wheel; its dependencies are ours."""
    home = tmp_path_factory.mktemp("clean")
    venv.create(home, with_pip=False)
    bin_folder = home / "bin"
    pip = [sys.executable, "-m", "pip", "--python", str(bin_folder / "python"), "install"]
    options = ["--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"]
    subprocess.run([*pip, *options, str(wheel)], check=True, cwd=home)
    (site,) = (home / "lib").glob("python3*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return bin_folder


@pytest.fixture(scope="module")
def served(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("served")
    command = [str(installed / "hwci"), "serve", "--database", "hwci.db", "--port", "0", "--quiet"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        yield next(filter(None, (re.search(r"http://[\d.:]+", line) for line in process.stderr)))[0]
        process.terminate()


def metadata_of(wheel: Path) -> tuple[dict[str, list[str]], str]:
    """Return the headers of a wheel's metadata, and the text that an index shows."""
    with ZipFile(wheel) as held:
        (name,) = (one for one in held.namelist() if one.endswith(".dist-info/METADATA"))
        text = held.read(name).decode()
    message = message_from_string(text)
    return {key: message.get_all(key, []) for key in message}, text.partition("\n\n")[2]


def test_wheel_and_source_hold_every_file_of_the_dashboard(dist: Path, wheel: Path) -> None:
    (source,) = dist.glob("*.tar.gz")
    with tarfile.open(source) as members:
        sent = {name.partition("/")[2] for name in members.getnames()}
    here = {path.relative_to(ROOT).as_posix() for path in STATIC.rglob("*") if path.is_file()}

    assert here - sent == set()
    assert here - set(ZipFile(wheel).namelist()) == set()


def test_the_wheel_holds_nothing_beside_the_package(wheel: Path) -> None:
    held = ZipFile(wheel).namelist()

    assert {name.split("/")[0].split("-")[0] for name in held} == {"hwci"}


def test_a_server_hands_out_the_files_that_are_built(wheel: Path) -> None:
    own, content = make_wheel()

    assert own.file == wheel.name
    assert set(ZipFile(BytesIO(content)).namelist()) == set(ZipFile(wheel).namelist())


def test_another_content_is_another_version_and_a_release_is_its_number_alone(
    wheel: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    (copy / "hwci").mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"):
        (copy / name).write_bytes((ROOT / name).read_bytes())
    for name, content in package_files():
        path = copy / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def built(**environ: str) -> str:
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
        subprocess.run(build, cwd=copy, check=True, capture_output=True, env=os.environ | environ)
        (made,) = tmp_path.glob("*.whl")
        made.unlink()
        return made.name

    assert built() == wheel.name
    assert built(HWCI_RELEASE="1") == f"hwci-{hwci.__version__}-py3-none-any.whl"
    (copy / "hwci" / "py.typed").write_text("other\n")
    assert built() != wheel.name


def test_an_index_shows_the_readme_with_links_that_lead_somewhere(wheel: Path) -> None:
    _, shown = metadata_of(wheel)
    links = re.findall(r"\]\((.+?)\)", shown)

    assert len(links) > len(["picture", "docs"])
    assert [link for link in links if not link.startswith("https://")] == []


def test_every_address_of_the_project_begins_with_its_home(wheel: Path) -> None:
    headers, shown = metadata_of(wheel)
    addresses = [entry.split(", ")[1] for entry in headers["Project-URL"]]
    home = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Homepage"]
    links = [link for link in re.findall(r"\]\((.+?)\)", shown) if "/main/" in link]

    assert [one for one in [*addresses, *links] if not one.startswith(home)] == []


def test_the_changelog_has_the_version(wheel: Path) -> None:
    headers, _ = metadata_of(wheel)

    assert (
        f"\n## [{headers['Version'][0].partition('+')[0]}]" in (ROOT / "CHANGELOG.md").read_text()
    )


def test_the_installed_command_is_the_wheel_s(installed: Path, tmp_path: Path) -> None:
    code = "import hwci; print(hwci.__file__)"
    said = subprocess.run(
        [installed / "python", "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True
    )

    assert Path(said.stdout.strip()).is_relative_to(installed.parent)


@pytest.mark.parametrize("arguments", [["--version"], ["demo", "--help"]], ids=" ".join)
def test_the_installed_command_answers(
    installed: Path, tmp_path: Path, arguments: list[str]
) -> None:
    said = subprocess.run(
        [installed / "hwci", *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
    )

    assert "hwci" in said.stdout
    assert said.stderr == ""


def test_the_installed_server_is_healthy_and_sends_the_page_with_its_modules(served: str) -> None:
    def got(path: str) -> str:
        with urlopen(served + path, timeout=SECONDS) as answer:
            assert answer.status == 200
            return str(answer.read().decode())

    page = got("/")
    modules = re.findall(r'(?:src|href)="(/static/[^"]+\.js)"', page)

    assert got("/healthz")
    assert len(modules) > 1
    assert all(got(path) for path in modules)


WITHOUT_SERVER = """
import sys
sys.modules.update(dict.fromkeys(sys.argv.pop(1).split(",")))  # as if they were not installed
from hwci.cli.main import main
main()
"""
OF_SERVER = "aiohttp,argon2,jiter,jwt,limits,passlib,sqlite_utils"
"""What only the extra `server` brings, and aiohttp, which only asynchronous programs need."""


def names_of(requirements: Sequence[str]) -> set[str]:
    """Return the names of what is required."""
    return {re.split(r"[^a-z-]", one)[0] for one in requirements}


def on_a_bench(
    folder: Path, *arguments: str, python: str = sys.executable
) -> subprocess.CompletedProcess[str]:
    """Run a command where hwci is installed without its extra `server`."""
    return subprocess.run(
        [python, "-c", WITHOUT_SERVER, OF_SERVER, *arguments],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        env={"HOME": str(folder), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
    )


def test_a_bench_reports_without_what_a_server_needs(tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text('<testsuite><testcase classname="a" name="b"/></testsuite>')
    fields = ["--repo-key=r", "--suite=s", "--box=b", f"--sha={'a' * 40}", "--branch=main"]
    done = on_a_bench(tmp_path, "report-run", *fields, "--junit=r.xml", "--dry-run")
    examined = on_a_bench(tmp_path, "doctor", "--json")

    assert (done.returncode, '"outcome"' in done.stdout) == (0, True), done.stderr
    assert "installed without a server" in examined.stdout, examined.stderr


@pytest.mark.parametrize("command", [["serve"], ["demo"], ["admin", "check"]], ids=" ".join)
def test_a_command_of_servers_names_the_install_of_what_it_lacks(
    command: list[str], installed: Path, tmp_path: Path
) -> None:
    python = str(installed / "python")
    done = on_a_bench(tmp_path, *command, python=python)
    run = done.stderr.splitlines()[-1].removeprefix("fix: Run: ")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert (done.returncode, shlex.split(run)[:4]) == (1, [python, "-m", "pip", "install"])
    assert names_of(shlex.split(run)[4:]) == names_of(project["optional-dependencies"]["server"])


def test_what_a_bench_needs_excludes_no_newer_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert all(re.fullmatch(r"[a-z]+>=[\d.]+", one) for one in project["dependencies"])


WITHOUT_POSIX = """
import asyncio, os, pathlib, shutil, signal, subprocess, sys, tempfile
from tests.support.windows import MSVCRT
sys.modules["msvcrt"] = MSVCRT
sys.modules.update(dict.fromkeys(["fcntl", "grp", "pwd", "resource", "termios", "tty"]))
for name in ("SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"):
    delattr(signal, name)
for name in ("chown", "fork", "getegid", "geteuid", "getgid", "getuid", "killpg", "setsid"):
    delattr(os, name)
from hwci.cli.main import main
main()
"""


def without_posix(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command without the modules, signals and functions that only POSIX has."""
    own = {"HOME": str(folder), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_POSIX, *arguments],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        env={**own, **env},
    )


@pytest.mark.parametrize(
    "command",
    [
        ["report-run", "--junit=r.xml"],
        ["exec", "--junit=r.xml", "--", sys.executable, "-c", "pass"],
        ["merge-announce", "--merged-at=2026-01-01T00:00:00Z"],
    ],
    ids=lambda command: command[0],
)
def test_the_reporter_needs_nothing_that_only_posix_has(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text('<testsuite><testcase classname="a" name="b"/></testsuite>')
    fields = {"REPO_KEY": "r", "SUITE": "s", "BOX": "b", "SHA": "a" * 40, "BRANCH": "main"}
    done = without_posix(
        tmp_path,
        *command,
        **{f"HWCI_{name}": value for name, value in fields.items()},
        HWCI_URL="http://127.0.0.1:1",
        HWCI_CI_KEY=f"svc_{'0' * 64}",
        HWCI_DEADLINE="0",
        HWCI_SPOOL_DIR=str(tmp_path / "spool"),
    )

    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "spool" / "bench.sqlite3").exists(), done.stderr


def test_a_mode_that_tells_nothing_of_others_is_no_warning(tmp_path: Path) -> None:
    file = tmp_path / "hwci" / "credentials.json"
    file.parent.mkdir()
    file.write_text('{"format": 1, "profiles": {}}')
    file.chmod(0o666)

    done = without_posix(tmp_path, "profiles", "list", XDG_CONFIG_HOME=str(tmp_path))

    assert (done.returncode, "Others can read" in done.stderr) == (0, False), done.stderr
