# SPDX-License-Identifier: Apache-2.0
"""The JSON contract, once: what may come in, what goes out, and every limit, by name.

Server, client and command line share these models. The room knows the engine's vocabulary and
values; it knows neither the web framework nor a database.
"""
