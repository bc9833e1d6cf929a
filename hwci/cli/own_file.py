# SPDX-License-Identifier: Apache-2.0
"""Files of one person on this machine: nobody else reads them, and each is replaced as a whole. It
decides how they are written; what stands in them is decided by who writes them.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


def own_folder(environ: Mapping[str, str]) -> Path:
    """Give the folder of this user's files: `$XDG_CONFIG_HOME/hwci`.

    Raises:
        RuntimeError: the user has no home, as in a container that runs as any number.
    """
    return Path(environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "hwci"


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Give a new file to write, which takes the place of `path` once all went well.

    A reader finds the old file or the new one, never a half, and so does one after a power cut.

    Raises:
        OSError: the file cannot be written; the old one stays.
    """
    import tempfile

    # mkstemp creates the file with mode 0600, so no one else can open it at any moment.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the new name, too, is on the disk
    finally:
        os.close(folder)
