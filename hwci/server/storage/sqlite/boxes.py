# SPDX-License-Identifier: Apache-2.0

"""Boxes in SQLite."""

from hwci.server.storage.sqlite.rows import Rows


class BoxRows(Rows):
    """Boxes."""
