# SPDX-License-Identifier: Apache-2.0
"""What can be asked of `ci-analysis/…`. What it answers stands in `hwci.contract`."""
