# SPDX-License-Identifier: Apache-2.0
"""Documentation; `generate.py` writes the pages of `reference/` from the code."""
