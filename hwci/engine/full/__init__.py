# SPDX-License-Identifier: Apache-2.0
"""A history from all facts at once: the definition that every store must equal."""
