# SPDX-License-Identifier: Apache-2.0
"""Claims about the rules: each test is a sentence of the specification or its semantics."""
