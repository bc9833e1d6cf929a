# SPDX-License-Identifier: Apache-2.0
"""Whether a JSON document holds more values than any report, found before it is parsed."""

import re

VALUES_MAX = 1_000_000
"""Values and names of a body. The largest legal report has half a million. Each may take 100 bytes
once it is read: without a limit, 64 MiB of `[],[],[]` would take gigabytes.
"""

STRING = rb'"((?:[^"\\]++|\\.)*+)"?'
"""An unterminated string matches too: else each quote in it would begin another search to the end.
"""
SIGN = re.compile(STRING + rb"|[,:\[{]", re.DOTALL)


def has_many_values(plain: bytes) -> bool:
    """Count the signs that separate values and names, outside strings, up to the limit."""
    if len(plain) <= VALUES_MAX:
        return False
    count = 0
    for sign in SIGN.finditer(plain):
        if sign[1] is None:
            count += 1
            if count > VALUES_MAX:
                return True
    return False
