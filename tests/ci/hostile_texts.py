# SPDX-License-Identifier: Apache-2.0
"""Names that try to be more than text where a forge, a chat or a browser shows them."""

BAD = (
    *("@all", "#1", "acme/fw#2", "GH-12", "!7", "https://evil.example", "www.evil.example"),
    *("a@evil.example", "<img src=x onerror=y>", "</table>", "</code>", "<!--", "-->", "]]>"),
    *("<a href=x>y</a>", "<b>", "[x](http://evil.example)", "![i](u)", "**b**", "*a*", "_a_"),
    *("`", "``", "```", "a`b", "`` ` ``", "|", "\\", "&lt;", "&#64;all", " a ", "a\nb"),
    *("\u202e", "\u200b", "\u2066", "\u2028", "\u3164", "\n\n", "\r", "\t", "\x00", "\x1b[31m"),
    *("/close", "/approve", "\n/close", ":x:", "~bug", "%m1", "$1", "<?php", "<![CDATA[", "\ud800"),
)
