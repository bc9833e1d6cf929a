# SPDX-License-Identifier: Apache-2.0
"""Answers beside the rules, one file a subject (ADR 0009)."""
