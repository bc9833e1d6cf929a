# SPDX-License-Identifier: Apache-2.0
"""The steps of the Dockerfile, run below a folder in place of `/`: a step that fails there fails
here. What a base image holds, and what Docker itself does, is not tested.

Nothing is downloaded: the packages are those of this environment, in which pip looks whether all
that the image installs is there. Where the tests are not root's, the user is not made.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from hwci.server.settings import VARIABLES
from tests.support.held_port import held_port

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
INSTRUCTIONS = re.findall(r"^([A-Z]+) +(.*)$", DOCKERFILE, re.MULTILINE)
OURS = sysconfig.get_path("purelib")
SITE = Path(OURS).relative_to(sys.prefix)
AS_ROOT = os.geteuid() == 0
SECONDS = 60
TOOLS = {
    "python": f'"{sys.executable}" "$@" && echo "{OURS}" > "$3/{SITE}/ours.pth"',
    "groupadd": '/usr/sbin/groupadd --prefix "$IMAGE" "$@"',
    "useradd": '/usr/sbin/useradd --prefix "$IMAGE" "$@"',
}
"""In place of those of the base image."""
PIP = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_COMPILE": "1"}
"""Without an index, and without (pip turns it round) an environment for the build."""


def of_dockerfile(name: str) -> list[str]:
    """Return the words of each instruction of a name."""
    return [words for instruction, words in INSTRUCTIONS if instruction == name]


def command_of(name: str) -> list[str]:
    """Return the command in the only instruction of a name."""
    (words,) = of_dockerfile(name)
    return [str(word) for word in json.loads(words[words.index("[") :])]


class Image:
    """What the steps leave below a folder, for both stages together."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "image"
        (self.root / "etc").mkdir(parents=True)
        tools = folder / "tools"
        tools.mkdir()
        for name, script in TOOLS.items():
            (tools / name).write_text(f"#!/bin/sh\n{script}\n")
            (tools / name).chmod(0o755)
        self.environ = {"PATH": f"{tools}:/usr/bin:/bin", "IMAGE": str(self.root)}
        self._folder = self.root
        for instruction, words in INSTRUCTIONS:
            match instruction:
                case "WORKDIR":
                    self._folder = Path(self.here(words))
                    self._folder.mkdir(exist_ok=True)
                case "COPY":
                    self._copy(*words.split())
                case "ENV":
                    for name, value in (word.split("=", 1) for word in shlex.split(words)):
                        self.environ[name] = self.here(value.replace("$PATH", self.environ["PATH"]))
                case "RUN" if AS_ROOT or "useradd" not in words:
                    self._run(words)

    def here(self, text: str) -> str:
        """Return a text with the paths of the image where they are here."""
        return re.sub(r"(?<![\w./])/(?=(?:opt|data|source)\b)", f"{self.root}/", text)

    def _run(self, words: str) -> None:
        done = subprocess.run(
            ["sh", "-c", self.here(words)],
            cwd=self._folder,
            env=self.environ | PIP,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "does not provide the extra" not in done.stderr, "pip only warns"

    def _copy(self, *words: str) -> None:
        *sources, target = words
        if sources[0].startswith("--from="):
            assert Path(self.here(sources[1])).is_dir()
            assert sources[1] == target
            return
        taken = (ROOT / ".dockerignore").read_text().splitlines()
        assert [source for source in sources if f"!{source}" not in taken] == []
        for source in sources:
            if (ROOT / source).is_dir():
                apart = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / source, self._folder / target, ignore=apart)
            else:
                shutil.copy(ROOT / source, self._folder / target)

    def command(self, words: Sequence[str], port: int) -> list[str]:
        """Return what runs a command as the user of the image, with a port in place of its own."""
        program, *rest = (self.here(word).replace("8080", str(port)) for word in words)
        found = shutil.which(program, path=self.environ["PATH"].split(":", 1)[0])
        assert found is not None
        if not AS_ROOT:
            return [found, *rest]
        user, group = of_dockerfile("USER")[0].split(":")
        # It may read the Python of these tests, wherever that is, and write nothing more.
        read = ["--inh-caps", "-all,+dac_read_search", "--ambient-caps", "+dac_read_search"]
        user_alone = ["setpriv", "--reuid", user, "--regid", group, "--clear-groups", *read]
        return [*user_alone, found, *rest]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return Image(tmp_path_factory.mktemp("docker"))


@contextmanager
def container(image: Image, port: int) -> Iterator["subprocess.Popen[bytes]"]:
    """Run what a container runs."""
    command = image.command([*command_of("ENTRYPOINT"), *command_of("CMD")], port)
    with subprocess.Popen(command, cwd=image.root / "data", env=image.environ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_the_container_is_healthy_while_its_server_answers_and_keeps_all_in_its_volume(
    image: Image,
) -> None:
    (volume,) = of_dockerfile("VOLUME")
    data = Path(image.here(volume))
    with held_port() as port:
        check = image.command(command_of("HEALTHCHECK"), port)

        def healthy() -> bool:
            done = subprocess.run(check, env=image.environ, check=False, capture_output=True)
            return done.returncode == 0

        assert not healthy()
        with container(image, port) as process:
            until = time.monotonic() + SECONDS
            while not healthy():
                assert process.poll() is None
                assert time.monotonic() < until
                time.sleep(0.1)
            (stop,) = of_dockerfile("STOPSIGNAL")
            process.send_signal(signal.Signals[stop])
            assert process.wait(SECONDS) == 0
        assert not healthy()

    owner = int(of_dockerfile("USER")[0].split(":")[0]) if AS_ROOT else os.geteuid()
    assert owner != 0
    assert {path.stat().st_uid for path in (data, *data.iterdir())} == {owner}
    assert (data / "hwci.db").stat().st_size > 0


def test_the_container_has_the_dashboard_and_the_wheel_of_its_own_program(image: Image) -> None:
    """What a build leaves out is missed when somebody asks for it, not when the server starts."""
    look = (
        "import hwci.server.web.site, hwci.version;"
        "print(hwci.__file__, len(hwci.server.web.site.the_site().files),"
        " hwci.version.build_version())"
    )
    here, there = (
        subprocess.run(
            [program, "-c", look], cwd=image.root, env=environ, check=True, capture_output=True
        )
        .stdout.decode()
        .split()
        for program, environ in (
            (sys.executable, os.environ | {"PYTHONPATH": str(ROOT)}),
            (str(image.root / "opt/hwci/bin/python"), image.environ),
        )
    )

    assert there[0].startswith(str(image.root))
    assert there[1:] == here[1:]


@pytest.mark.skipif(not AS_ROOT, reason="the user was not made")
def test_nobody_can_sign_in_as_the_user_of_the_container(image: Image) -> None:
    (user,) = (image.root / "etc/passwd").read_text().splitlines()
    name, password, *ids = user.split(":")[:4]

    assert (name, ":".join(ids)) == ("hwci", of_dockerfile("USER")[0])
    assert password in {"!", "x"}


def test_the_base_is_pinned_to_a_python_that_the_project_takes_and_a_debian() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (base,) = {words.split()[0] for words in of_dockerfile("FROM")}
    pinned = re.fullmatch(r"python:(3\.\d+)-slim-[a-z]+", base)

    assert pinned is not None
    assert f"Programming Language :: Python :: {pinned[1]}" in project["classifiers"]


def test_the_container_is_set_by_variables_that_the_server_reads() -> None:
    names = {variable.name for variable in VARIABLES}

    assert set(re.findall(r"\bHWCI_[A-Z_]+", DOCKERFILE)) <= names
