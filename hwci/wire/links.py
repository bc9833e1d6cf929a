# SPDX-License-Identifier: Apache-2.0
"""Links to other sites: which texts may be one (contract, "Fields of a report").

An address is printable ASCII, so that it holds no command for a terminal and looks like what it is.
"""

import re

FAULT = (
    "Should be an address that begins with http:// or https://, in printable ASCII, without blanks "
    "and without a password"
)
_ADDRESS = re.compile(r"https?://[^/?#@\\]+(?:[/?#].*)?", re.IGNORECASE)


def is_address(text: str) -> bool:
    """Whether people may be sent to an address."""
    plain = text.isascii() and text.isprintable() and " " not in text
    return plain and _ADDRESS.fullmatch(text) is not None
