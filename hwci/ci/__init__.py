# SPDX-License-Identifier: Apache-2.0
"""From a CI job to its reports: what the job is, its commits, its results.

It knows no server, and stays light, as it is started in each CI step.
"""
