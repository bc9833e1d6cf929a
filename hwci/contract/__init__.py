# SPDX-License-Identifier: Apache-2.0
"""What goes over the wire, stated once: the shapes of all answers (contract).

The engine and the analysis return these very objects, the server writes them as JSON, and the
client reads them. This room decides which fields an answer has, and no number; how JSON is written
and read is decided in `hwci.wire.codec`.
"""
