# SPDX-License-Identifier: Apache-2.0
"""History from all facts at once: the definition that every store must equal."""
