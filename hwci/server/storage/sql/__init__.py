# SPDX-License-Identifier: Apache-2.0
"""The statements of every database that speaks SQL, by subject, each written once."""
