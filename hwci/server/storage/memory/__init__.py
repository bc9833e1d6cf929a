# SPDX-License-Identifier: Apache-2.0
"""Storage in this process's memory; `store.py` is the way in."""
