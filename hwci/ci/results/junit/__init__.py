# SPDX-License-Identifier: Apache-2.0
"""JUnit XML as test results: one format by name, and a dialect per test runner."""

from hwci.ci.results.junit.document import junit_results

__all__ = ["junit_results"]
