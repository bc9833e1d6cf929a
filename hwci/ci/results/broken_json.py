# SPDX-License-Identifier: Apache-2.0
"""What was written whole of a JSON object that breaks off: its members, and the elements of the one
list that is asked for. What they mean is decided by whoever asks.
"""

import json
import re

_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"[ \t\r\n]*")


def whole_parts(text: str, of: str) -> dict[str, object]:
    """Read an object up to where it breaks off. `of`: the member whose value is a list, which is
    there with the elements that are whole; any other member is there if it is whole.
    """
    found: dict[str, object] = {}
    try:
        at = _behind("{", text, 0)
        while text.startswith('"', at):
            name, at = _DECODER.raw_decode(text, at)
            at = _behind(":", text, at)
            if name == of and text.startswith("[", at):
                elements: list[object] = []
                found[of] = elements
                at = _take_elements(elements, text, at)
            else:
                found[name], at = _DECODER.raw_decode(text, at)
            at = _behind(",", text, at)
    except json.JSONDecodeError:
        pass  # here it breaks off
    return found


def _take_elements(found: list[object], text: str, at: int) -> int:
    """Take the elements of a list that begins here; give where it ends."""
    at = _behind("[", text, at)
    while not text.startswith("]", at):
        element, at = _DECODER.raw_decode(text, at)
        found.append(element)
        at = _past_blank(text, at)
        if not text.startswith("]", at):
            at = _behind(",", text, at)
    return at + 1


def _behind(sign: str, text: str, at: int) -> int:
    """Give where what follows a sign begins."""
    at = _past_blank(text, at)
    if not text.startswith(sign, at):
        raise json.JSONDecodeError(f"Expecting {sign}", text, at)
    return _past_blank(text, at + 1)


def _past_blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    assert match is not None, "nothing is blank, too"
    return match.end()
