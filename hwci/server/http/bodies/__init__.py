# SPDX-License-Identifier: Apache-2.0
"""Bodies: received within limits, inflated, and read into models."""
