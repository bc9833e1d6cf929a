# SPDX-License-Identifier: Apache-2.0
"""What CI sent, as answers show it: runs, their commits, merges, products."""
