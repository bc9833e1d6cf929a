# SPDX-License-Identifier: Apache-2.0
"""CI Metrics: what CI sends is kept, what people see is read, and failures are reviewed."""
