# SPDX-License-Identifier: Apache-2.0
"""The JSON contract: what may come in, what goes out, and every limit, by name.

Server, client and command line share these models. They know the shapes of `hwci.contract` and
the engine's facts, and neither the web framework nor a database.
"""
