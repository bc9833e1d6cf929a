# SPDX-License-Identifier: Apache-2.0
"""Which content codings who asks can read (RFC 9110, 12.5.3)."""

import re

from aiohttp import hdrs, web

GZIP = "gzip"
_CODING = re.compile(r"(gzip|\*)(?:;q=([01](?:\.\d{0,3})?))?", re.ASCII)


def takes_gzip(request: web.BaseRequest) -> bool:
    """Say whether an answer may be compressed. Who says nothing gets it plain."""
    codings = ",".join(request.headers.getall(hdrs.ACCEPT_ENCODING, []))
    found = (_CODING.fullmatch(one.replace(" ", "")) for one in codings.lower().split(","))
    weights = {one[1]: float(one[2] or 1) for one in found if one}
    return weights.get(GZIP, weights.get("*", 0)) > 0
