# SPDX-License-Identifier: Apache-2.0
"""JSON that breaks off: the members of objects, and the elements of lists, that are whole before it
does.

This module decides what still counts of such a text. Which lists hold results is said by the
readers of the formats.
"""

import json
import re
from collections.abc import Collection
from contextlib import suppress

Way = tuple[str, ...]
"""The names of members, from the outermost to the list itself."""
_DECODER = json.JSONDecoder()
_SIGNS = {sign: re.compile(rf"[ \t\r\n]*{re.escape(sign)}[ \t\r\n]*") for sign in "{}:,[]"}


def whole_parts(text: str, lists: Collection[Way]) -> dict[str, object]:
    """Read an object up to where it breaks off: the members that are whole, and of these `lists`
    the elements that are.
    """
    fields: dict[str, object] = {}
    with suppress(json.JSONDecodeError):  # there it breaks off
        _take_members(fields, text, 0, lists)
    return fields


def _take_members(fields: dict[str, object], text: str, at: int, lists: Collection[Way]) -> int:
    """Take the members of an object that begins here. Return where it ends."""
    at = _behind("{", text, at)
    while (end := _SIGNS["}"].match(text, at)) is None:
        name, at = _DECODER.raw_decode(text, at)
        at = _behind(":", text, at)
        inside = [way[1:] for way in lists if way[0] == name]
        if () in inside and text.startswith("[", at):
            fields[name] = elements = list[object]()
            at = _take_elements(elements, text, at)
        elif any(inside) and text.startswith("{", at):
            fields[name] = members = dict[str, object]()
            at = _take_members(members, text, at, [way for way in inside if way])
        else:
            fields[name], at = _DECODER.raw_decode(text, at)
        if _SIGNS["}"].match(text, at) is None:
            at = _behind(",", text, at)
    return end.end()


def _take_elements(elements: list[object], text: str, at: int) -> int:
    """Take the elements of a list that begins here. Return where it ends."""
    at = _behind("[", text, at)
    while (end := _SIGNS["]"].match(text, at)) is None:
        element, at = _DECODER.raw_decode(text, at)
        elements.append(element)
        if _SIGNS["]"].match(text, at) is None:
            at = _behind(",", text, at)
    return end.end()


def _behind(sign: str, text: str, at: int) -> int:
    match = _SIGNS[sign].match(text, at)
    if match is None:
        raise json.JSONDecodeError(f"Expecting {sign}", text, at)
    return match.end()
