# SPDX-License-Identifier: Apache-2.0
"""What is measured by hand, on a quiet machine: no test depends on a time."""
