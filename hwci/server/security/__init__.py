# SPDX-License-Identifier: Apache-2.0
"""Passwords, tokens and keys: each library known to one file."""
