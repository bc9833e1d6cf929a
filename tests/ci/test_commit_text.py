# SPDX-License-Identifier: Apache-2.0
"""What a pull request says of its commit: short first, cut where it is long, and no text of others
acts in it.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from unicodedata import category
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from hwci.ci.forges.forge import State
from hwci.ci.reporting.commit_text import (
    BYTES_MAX,
    ROWS_MAX,
    Subject,
    headline,
    status_of,
    text_of,
)
from hwci.contract.known_failures import KnownBy
from hwci.contract.runs.one_commit import OneCommit, WhoseCount
from hwci.contract.vocabulary import Whose
from tests.ci.commit_answers import (
    NOON,
    PAGES,
    SHA,
    SUBJECT,
    answer,
    failure,
    passed,
    run,
)
from tests.ci.hostile_texts import BAD
from tests.support.soak import rounds

MINE, FEW, BASE, FLAKY, BENCH = (
    failure(whose, f"t{at}", failed_on=("bench-2",)) for at, whose in enumerate(Whose)
)


class Page(HTMLParser):
    """What a browser makes of a comment, after Markdown. `prose`: the text outside `<code>`."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.comments: list[str] = []
        self.codes: list[str] = []
        self.prose = ""
        self._open: list[str] = []
        tokens = MarkdownIt("commonmark").enable("table").enable("strikethrough").parse(text)
        assert {token.type for token in tokens} == {"html_block"}
        for token in tokens:
            self.feed(token.content)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert [name for name, _ in attrs] == ["href"] * (tag == "a")
        self.links += [str(address) for _, address in attrs]
        if tag == "code":
            self.codes.append("")
        if tag != "br":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_comment(self, data: str) -> None:
        self.comments.append(f"<!--{data}-->")

    def handle_data(self, data: str) -> None:
        if "code" in self._open:
            self.codes[-1] += data
        else:
            self.prose += data

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)


def shown(of: OneCommit | None, subject: Subject = SUBJECT) -> Page:
    return Page(text_of(of, subject))


def rows(of: OneCommit) -> list[str]:
    cells = [line for line in text_of(of, SUBJECT).splitlines() if line.startswith("<tr><td>")]
    return [re.sub(r"<[^>]+>", "", cell.replace("</td>", "|")) for cell in cells]


# The headline, and the status


@pytest.mark.parametrize(
    ("of", "line"),
    [
        (None, "no run of this commit is known"),
        (answer(), "no failure"),
        (
            answer(checked=False, runs=(run(hello_ok=False, tests=0),)),
            "no run of this commit reached the hardware",
        ),
        (answer(MINE), "1 failure of this change"),
        (answer(MINE, MINE), "2 failures of this change"),
        (answer(FEW), "not enough data on 1"),
        (answer(BASE), "1 also on main"),
        (answer(BASE, base_branch=None), "1 also on the base branch"),
        (answer(FLAKY), "1 flaky"),
        (answer(BENCH), "bench-2 is to blame for 1"),
        (answer(BENCH, failure(Whose.BENCH)), "benches are to blame for 2"),
        (
            answer(BENCH, counts=(WhoseCount(whose=Whose.BENCH, failures=2),)),
            "benches are to blame for 2",  # one is not shown: of which bench is not known
        ),
        (
            answer(MINE, FLAKY, FLAKY, BENCH),
            "1 failure of this change, 2 flaky, bench-2 is to blame for 1",
        ),
    ],
)
def test_the_headline_counts_whose_the_failures_are(of: OneCommit | None, line: str) -> None:
    assert headline(of) == line
    assert f"Hardware tests: {line}" in re.sub(r"<[^>]+>", "", text_of(of, SUBJECT))


@pytest.mark.parametrize("whose", Whose)
def test_a_commit_is_red_only_for_a_failure_of_its_change(whose: Whose) -> None:
    mine = whose is Whose.THIS_CHANGE
    state = status_of(answer(failure(whose)), SUBJECT).state
    assert state is (State.FAILURE if mine else State.SUCCESS)
    assert status_of(answer(), SUBJECT).state is State.SUCCESS


def test_a_commit_waits_while_no_run_of_it_reached_the_hardware() -> None:
    unreached = replace(answer(failure(Whose.THIS_CHANGE)), checked=False)

    assert status_of(None, SUBJECT).state is State.PENDING
    assert status_of(unreached, SUBJECT).state is State.PENDING


def test_a_status_is_named_after_its_product_and_says_what_is_not_sure() -> None:
    status = status_of(answer(FEW, FLAKY), SUBJECT)
    whole = Subject(SUBJECT.url, SUBJECT.org_id, SUBJECT.repo_key, None, SHA)

    assert (status.name, status_of(None, whole).name) == ("hwci/sensor-fw", "hwci")
    assert status.description == "not enough data on 1, 1 flaky"
    assert status.address == f"{PAGES}/runs?repoKey=acme%2Ffirmware&suite=sensor-fw&sha={SHA}"


def test_a_long_description_is_cut_for_the_forge() -> None:
    status = status_of(answer(MINE, BASE, base_branch="b" * 200), SUBJECT)

    assert len(status.description) == 140
    assert status.description.endswith("b…")


# The comment


def test_a_row_says_whose_a_failure_is_why_and_what_would_tell_more() -> None:
    mine = failure(
        Whose.THIS_CHANGE,
        chance=0.97,
        passed_on=("bench-3",),
        says="The change broke it.",
        evidence="It passed 40 of 40 times on main.",
        to_settle="Run it on bench-2.",
    )
    page = shown(answer(mine))

    [row] = rows(answer(mine))
    assert row.split("|") == [
        "This change, 97 %",
        "boot&#58;&#58;cold",
        "failed on bench-1; passed on bench-3",
        "The change broke it.It passed 40 of 40 times on main.To settle it: Run it on bench-2.",
        "",
    ]
    assert f"{PAGES}/failures/{UUID(int=7)}" in page.links
    assert "boot::cold" in page.codes


def test_a_row_leads_to_the_log_of_its_failure() -> None:
    logs = [LOG, None, "javascript:alert(1)", 'https://x"><img src=y>']
    pages = [shown(answer(failure(Whose.FLAKY, log_url=log))) for log in logs]

    assert [LOG in page.links for page in pages] == [True, False, False, False]
    assert ["(log)" in page.prose for page in pages] == [True, False, False, False]


def test_a_row_says_first_that_its_failure_is_known() -> None:
    known = known_by("FW-7")
    [row] = rows(answer(failure(Whose.THIS_CHANGE, known=known)))

    assert row.split("|")[3].startswith("known: FW-7 until 2031-01-31It fails here.")
    assert status_of(answer(failure(Whose.THIS_CHANGE, known=known)), SUBJECT).state is (
        State.FAILURE
    )


def known_by(ticket: str) -> KnownBy:
    until = datetime(2031, 1, 31, tzinfo=UTC)
    says = f"known: {ticket} until {until:%Y-%m-%d}"
    return KnownBy(id=UUID(int=8), ticket=ticket, until=until, says=says)


def test_rows_stand_in_the_order_of_whose_they_are() -> None:
    of = answer(BENCH, FLAKY, BASE, FEW, MINE)

    assert [row.split("|")[0] for row in rows(of)] == [
        "This change",
        "Not enough data",
        "Base branch",
        "Flaky test",
        "Bench",
    ]


def test_a_word_of_a_newer_server_is_shown_as_it_is() -> None:
    newer = str.__new__(Whose, "the_weather")
    newer._value_ = "the_weather"
    of = answer(MINE, failure(newer), counts=(WhoseCount(whose=newer, failures=1),))

    assert headline(of) == "1 the_weather"
    assert rows(of)[1].startswith("the&#95;weather|")


def test_failures_of_several_products_name_theirs() -> None:
    of = answer(failure(Whose.FLAKY, "a"), failure(Whose.FLAKY, "b", suite="boot-fw"))

    assert [row.split("|")[1] for row in rows(of)] == ["sensor-fw: a", "boot-fw: b"]


def test_a_comment_says_where_the_commit_ran_and_what_still_waits() -> None:
    of = answer(runs=(run(), run("bench-2", hello_ok=False, tests=0)), unchecked=3)
    prose = re.sub(r"<[^>]+>", "", text_of(of, SUBJECT))

    assert "333333333333 of acme/firmware, sensor-fw: 2 runs on bench-1." in prose
    assert "The hardware was not reached on bench-2. Compared with main." in prose
    assert "Merges that still wait for hardware: 3." in prose
    unknown = text_of(None, SUBJECT, "No run of the last 30 days is of a commit")
    assert "No run of the last 30 days is of a commit" in unknown


def test_a_known_bug_that_is_gone_is_told() -> None:
    page = shown(answer(passes=(passed(),)))

    assert "Fails on  and passes here: 1 test" in page.prose
    assert "A known bug is gone." in page.prose
    assert [link for link in page.links if "/test?" in link] == [
        f"{PAGES}/test?repoKey=acme%2Ffirmware&suite=sensor-fw&testId=join%3A%3Aslow"
    ]


def test_what_is_long_is_cut_with_a_count_and_a_link() -> None:
    many = [failure(Whose.FLAKY, f"t{number}") for number in range(10_000)]
    fixed = tuple(passed(f"p{number}") for number in range(1_000))
    of = answer(*many, passes=fixed)
    page = shown(of)

    assert len(rows(of)) == ROWS_MAX
    assert "9,950 more failures" in page.prose
    assert "990 more tests" in page.prose
    assert page.links.count(SUBJECT.runs) == 3


def test_a_comment_of_the_longest_texts_fits() -> None:
    long = ("@" * 4_000, " ".join("@" * 2_000))
    boxes = tuple(f"{'@' * 190}{number}" for number in range(500))
    names = {"failed_on": boxes, "passed_on": boxes, "to_settle": long[1]}
    many = [
        failure(Whose.THIS_CHANGE, long[0], says=long[0], evidence=long[1], **names)
        for _ in range(100)
    ]
    of = answer(
        *many,
        base_branch=long[0],
        runs=tuple(run(box) for box in boxes) + tuple(run(box, hello_ok=False) for box in boxes),
        passes=(passed(long[0], says=long[1], boxes=boxes),) * 100,
    )
    text = text_of(of, SUBJECT)

    assert len(text.encode()) <= BYTES_MAX
    assert re.search(r">\d+ more failures<", text)
    Page(text)


# Text of others

LOG = "https://ci.example/7/a.log?x=1&y=2"
HOSTILE = st.lists(st.one_of(st.sampled_from(BAD), st.text(max_size=5)), max_size=6).map("".join)
PLAIN = re.compile(r"[A-Za-z0-9 .,;:()'%…\n-]*")


@st.composite
def hostile_answers(draw: st.DrawFn) -> OneCommit:
    def text() -> str:
        return draw(HOSTILE)

    failures = [
        failure(
            draw(st.sampled_from(Whose)),
            text(),
            suite=text(),
            failed_on=(text(), text()),
            passed_on=(text(),),
            says=text(),
            evidence=text(),
            to_settle=text(),
            log_url=draw(st.sampled_from((None, LOG, text()))),
            since=text(),
            since_at=NOON,
            known=draw(st.sampled_from((None, known_by(text())))),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    fixed = passed(text(), suite=text(), boxes=(text(),), says=text(), since=text())
    runs = (run(text(), branch=text()), run(text(), hello_ok=False))
    return answer(
        *failures, base_branch=text(), subject=text(), runs=runs, passes=(fixed,), unchecked=1
    )


def pages_of(of: OneCommit, subject: Subject) -> Iterator[str]:
    yield subject.runs
    yield from (subject.failure(failed.failure_id) for failed in of.failures)
    yield LOG
    yield from (subject.test(test) for test in of.passes)


@settings(max_examples=rounds(60, 5_000))
@given(of=hostile_answers(), repo_key=HOSTILE, suite=HOSTILE, sha=HOSTILE)
def test_text_of_others_is_no_link_no_mention_and_no_html(
    of: OneCommit, repo_key: str, suite: str, sha: str
) -> None:
    subject = Subject(SUBJECT.url, SUBJECT.org_id, repo_key, suite, sha)
    text = text_of(of, subject)
    page = Page(text)

    ours = {"h3", "p", "table", "tr", "th", "td", "a", "b", "br", "ul", "li", "code"}
    assert set(page.tags) <= ours
    assert page.tags.count("td") == 4 * len(of.failures)
    assert page.comments == [subject.first_line]
    assert set(page.links) <= set(pages_of(of, subject))
    # Forges look for mentions, numbers and addresses in all text but that of `<code>`.
    assert PLAIN.fullmatch(page.prose), page.prose
    assert "www." not in page.prose
    assert not re.search("GH-[0-9]", page.prose)
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert not hidden & {category(letter) for letter in "".join(page.codes)}
    assert not any(line.startswith("/") for line in text.splitlines())
    assert "\u202e" not in status_of(of, subject).description
    text.encode()
