# SPDX-License-Identifier: Apache-2.0
"""What became of a commit, and what caused each of its failures (semantics, 15)."""
