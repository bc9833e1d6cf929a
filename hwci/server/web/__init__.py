# SPDX-License-Identifier: Apache-2.0
"""The dashboard (spec, "Metrics page (dashboard)"): one document and the files that it loads. All
that a page shows it asks of the API, as every other caller does; this room knows no service.
"""
