# SPDX-License-Identifier: Apache-2.0
"""The wheels of hwci that this server hands out: the one that it runs from, and those of earlier
versions, which pipelines pin (contract, "Install"; docs/adr/0039).

This module decides what is in a wheel and where wheels are kept. It does not know addresses beyond
their path, nor who installs what.
"""

import asyncio
import hashlib
import logging
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import hwci
from hwci.server.errors import NotFoundError
from hwci.wire.wheels import WheelAnswer

LOG = logging.getLogger("hwci.server")

ADDRESS = "/dist/"
_SUFFIXES = frozenset((
    ".css", ".groovy", ".html", ".js", ".py", ".sh", ".sql", ".svg", ".toml", ".txt", ".typed",
    ".yml",
))  # fmt: skip
"""Of the package's files. What else is in the folder of a checkout is not for others."""
_INFO = ("METADATA", "WHEEL", "entry_points.txt", "licenses/LICENSE")
_NAME_DIGITS = 12
_UNIX = 3
"""The system in a wheel's list of files, also where it is made on another."""


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel. `file`: its name, which has its version."""

    file: str
    sha256: str

    @property
    def folder(self) -> str:
        """The folder of its address and on the disk: other content of one version has another."""
        return self.sha256[:_NAME_DIGITS]

    @property
    def answer(self) -> WheelAnswer:
        """Where it is, and its hash."""
        version = self.file.split("-")[1]
        path = f"{ADDRESS}{self.folder}/{self.file}"
        return WheelAnswer(version=version, path=path, sha256=self.sha256)


class Wheels:
    """Wheels in a folder; None: only the server's own, in memory."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    async def current(self) -> WheelAnswer:
        """Return the wheel that the server runs from. Raises `NotFoundError`: there is none."""
        wheel = await asyncio.to_thread(self._current)
        return wheel.answer

    async def listed(self) -> list[WheelAnswer]:
        """Return all wheels, by their file names; a damaged one is left out."""
        return await asyncio.to_thread(self._listed)

    async def content(self, folder: str, file: str) -> bytes | None:
        """Return a wheel's bytes by its address; None if there is no such wheel."""
        return await asyncio.to_thread(self._content, folder, file)

    async def prepare(self) -> None:
        """Make the server's wheel now; a line of the log notes if it cannot be made."""
        try:
            await self.current()
        except NotFoundError as fault:
            LOG.warning("%s", fault)

    def _current(self) -> Wheel:
        wheel, packed = this_wheel()
        if self._folder is not None:
            _keep(wheel, packed, self._folder)
        return wheel

    def _listed(self) -> list[WheelAnswer]:
        kept = (_kept(path, path.stat().st_mtime_ns) for path in self._files())
        found = {wheel for wheel in kept if wheel is not None}
        with suppress(NotFoundError):  # those of earlier versions are here all the same
            found.add(self._current())
        return [wheel.answer for wheel in sorted(found, key=lambda one: (one.file, one.sha256))]

    def _content(self, folder: str, file: str) -> bytes | None:
        with suppress(NotFoundError):
            wheel, packed = this_wheel()
            if (wheel.folder, wheel.file) == (folder, file):
                return zlib.decompress(packed)
        for path in self._files():
            if (path.parent.name, path.name) == (folder, file):
                content = path.read_bytes()
                if _sha256(content).startswith(folder):
                    return content
        return None

    def _files(self) -> Iterable[Path]:
        return () if self._folder is None else self._folder.glob("*/hwci-*.whl")


@cache
def this_wheel() -> tuple[Wheel, bytes]:
    """Return the wheel of the hwci that runs, and its bytes, compressed as they stay in memory. It
    is made once in a process from its installed files. The same files always make the same bytes:
    sorted, not compressed, without times.

    Raises:
        NotFoundError: it cannot be made.
    """
    try:
        info = distribution("hwci")
    except PackageNotFoundError as fault:
        raise _none("hwci runs from a folder where it is not installed") from fault
    if info.version != hwci.__version__:
        raise _none(f"hwci {hwci.__version__} runs, and {info.version} is installed")
    try:
        names = {path: f"hwci-{info.version}.dist-info/{path}" for path in _INFO}
        files = dict(_package(Path(hwci.__file__).parent))
        files |= {name: Path(str(info.locate_file(name))).read_bytes() for name in names.values()}
    except OSError as fault:
        raise _none(f"{fault.filename}: {fault.strerror}") from fault
    content = _zipped(files, info.version)
    wheel = Wheel(f"hwci-{info.version}-py3-none-any.whl", _sha256(content))
    return wheel, zlib.compress(content, zlib.Z_BEST_SPEED)


def _none(why: str) -> NotFoundError:
    return NotFoundError(f"This server has no wheel to hand out: {why}; install it with pip")


def _package(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in folder.rglob("*"):
        if path.suffix in _SUFFIXES and path.is_file():
            yield path.relative_to(folder.parent).as_posix(), path.read_bytes()


def _zipped(files: Mapping[str, bytes], version: str) -> bytes:
    record = f"hwci-{version}.dist-info/RECORD"
    lines = [f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in sorted(files.items())]
    content = BytesIO()
    with ZipFile(content, "w", ZIP_STORED) as into:
        for name, data in (
            *sorted(files.items()),
            (record, "".join((*lines, record, ",,\n")).encode()),
        ):
            entry = ZipInfo(name)
            entry.create_system, entry.external_attr = _UNIX, 0o644 << 16
            into.writestr(entry, data)
    return content.getvalue()


def _digest(data: bytes) -> str:
    return urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _keep(wheel: Wheel, packed: bytes, folder: Path) -> None:
    """Keep a wheel on the disk, whole or not at all."""
    path = folder / wheel.folder / wheel.file
    if path.exists():
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_bytes(zlib.decompress(packed))
        part.replace(path)
    except OSError as fault:
        LOG.warning("%s cannot be kept for pipelines that pin it: %s", wheel.file, fault)


@lru_cache(256)
def _kept(path: Path, _changed: int) -> Wheel | None:
    """Return the wheel in a file, read once; None if it is damaged."""
    wheel = Wheel(path.name, _sha256(path.read_bytes()))
    if wheel.folder == path.parent.name:
        return wheel
    LOG.warning("%s is damaged and not served", path)
    return None
