# SPDX-License-Identifier: Apache-2.0
"""Benchmarks, run by hand on an idle machine; no test checks a duration."""
