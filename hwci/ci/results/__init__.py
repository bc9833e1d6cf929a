# SPDX-License-Identifier: Apache-2.0
"""Reading result files of any kind as test items."""
