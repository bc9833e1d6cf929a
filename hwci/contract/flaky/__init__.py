# SPDX-License-Identifier: Apache-2.0
"""Flaky tests, one test, and which commit broke it."""
