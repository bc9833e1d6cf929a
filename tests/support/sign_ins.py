# SPDX-License-Identifier: Apache-2.0
"""Sign-ins that are kept, as tests need them."""

from hwci.client.session_file import Profile, SessionFile


def put(file: SessionFile, name: str, profile: Profile) -> None:
    """Keep a profile in place of the earlier one of that name."""
    with file.changing() as changing:
        changing.put(name, profile)
