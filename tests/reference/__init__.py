# SPDX-License-Identifier: Apache-2.0
"""A second, independent answer to every question of the metrics page, and histories to ask about.

Nothing here imports the program. The reference reads the bodies that CI sends and computes the
JSON of the HTTP API by looking at all facts, again and again; it is slow and meant to be obvious.

    facts     what is kept of the events that arrived
    paths     which files a list of path patterns matches
    lanes     order of commits, labels, groups
    reviews   what people laid over the automatic class, and the replay of events
    checks    changes under test, the walk to the fix, the reason, the commit that broke the test
    rows      the JSON of each table row
    brute     the page and the list of failures, the door of the reference
    graph     a commit graph with bugs in it
    pipeline  what CI sends about such a graph, true or spoiled
    delivery  spellings and the order of arrival
    generator seeded random histories over such graphs

A comparison with a server reads like this:

    story = generate(seed)
    arrived = []
    for kind, body in story.events:
        if kind == "review":  # whole lists, of the last 3650 days up to `story.latest`
            chosen = choose(body, resolved_rows_of_the_server, failure_rows_of_the_server)
            if chosen is not None:
                server.post(chosen["id"], body["action"])
                arrived.append(review_event(body, chosen, by, at))
        else:
            server.send(kind, body)
            arrived.append((kind, body))
    for view in story.views:
        assert server.page(**view) == brute.page(arrived, **view)
"""
