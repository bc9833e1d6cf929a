# SPDX-License-Identifier: Apache-2.0
"""One file per resource; `table.py` gathers them, `openapi.py` describes them."""
