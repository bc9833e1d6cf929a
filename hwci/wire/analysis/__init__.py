# SPDX-License-Identifier: Apache-2.0
"""The JSON of what `ci-analysis/…` answers: each answer is made of the analysis's."""
