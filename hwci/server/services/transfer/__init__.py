# SPDX-License-Identifier: Apache-2.0
"""Export of an organization to a file that any tool reads, and import of such a file or of kept
bodies (ADR 0022).
"""
