# SPDX-License-Identifier: Apache-2.0
"""What became of a commit, and whose each of its failures is (semantics, 15)."""
