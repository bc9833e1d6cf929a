# SPDX-License-Identifier: Apache-2.0
"""JUnit XML: its bytes, its documents, its elements, and what they say of a test."""
