# SPDX-License-Identifier: Apache-2.0
"""Attacks on a server that they start: `python -m tests.attack [NAME …]`.

Each module beside `scene.py` and `probe.py` is one attack, its first line says which, and holds an
`ATTACK` (`scene.py`). While it runs, another organization reads its page and sends reports; how
long these took, what they were answered, and the server's memory are printed and judged. Loads are
bounded, and go to this machine alone.
"""
