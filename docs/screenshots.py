# SPDX-License-Identifier: Apache-2.0
"""Takes the pictures of `docs/images` from the demo, in the system's Chromium.

`python -m docs.screenshots` (or `make screenshots`) runs the demo, signs in and takes a picture of
each page. It decides what is in a picture; what a page looks like, the page decides.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

from tests.web.conftest import CHROMIUM, QUIET, ROOT_NEEDS_NO_SANDBOX, Dashboard, running_demo

IMAGES = Path(__file__).parent / "images"
BYTES_MAX = 250_000


class Picture(NamedTuple):
    """A picture of a page. `path`: what its address ends with; `by`: a link on that page to follow
    first; `ready`: what is there once the page is.
    """

    name: str
    path: str
    ready: str
    by: str | None = None
    scheme: Literal["light", "dark"] = "light"
    width: int = 1280
    height: int = 860


_COMPARED = ".tile .change:text('before')"
_ROW = "tbody tr"
_COMMITS = ".line .commit"

DOORS: Sequence[Picture] = (
    Picture("sign-in", "/sign-in", "form", height=480),
    Picture("set-up", "/setup#invitation", "form", height=720),
)
PAGES: Sequence[Picture] = (
    Picture("metrics-light", "/metrics", _COMPARED),
    Picture("metrics-dark", "/metrics", _COMPARED, scheme="dark"),
    Picture("metrics-phone", "/metrics", _COMPARED, width=390, height=844),
    Picture("flakiest-tests", "/metrics?flaky.rows=all#flaky", "#flaky .whom:text('flaky')"),
    Picture("failure", "/metrics", _COMMITS, by="#bugs tr:has-text('Automatic') a"),
    Picture("failures", "/failures", _ROW),
    Picture("runs", "/runs", _ROW),
    Picture("run", "/runs", f"#tests {_ROW}", by="td[data-title=Run] a"),
    Picture(
        "test", "/metrics?flaky.rows=all", ".over-time rect", by="#flaky .name a:text('lora_join')"
    ),
    Picture("review", "/review", ".inbox [aria-expanded=true]"),
    Picture("boxes", "/boxes", "[aria-label='Boxes compared'] " + _ROW),
    Picture("box", "/boxes", _ROW, by="[aria-label='Boxes compared'] td[data-title=Box] a"),
    Picture("audit-log", "/audit-log", _ROW),
)


def main() -> None:
    """Take all pictures."""
    IMAGES.mkdir(exist_ok=True)
    arguments = [*ROOT_NEEDS_NO_SANDBOX, *QUIET]
    with running_demo() as demo, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=arguments)
        for picture in DOORS:
            _take(_opened(browser, demo, picture), demo.url, picture)
        for picture in PAGES:
            page = _opened(browser, demo, picture)
            _take(page, _organization(page, demo), picture)
        browser.close()


def _opened(browser: Browser, demo: Dashboard, picture: Picture) -> Page:
    context = browser.new_context(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme=picture.scheme,
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="UTC",
    )
    demo.share_clock(context)
    return context.new_page()


def _organization(page: Page, demo: Dashboard) -> str:
    """Sign in; give what the addresses of an organization begin with."""
    return f"{demo.url}/orgs/{demo.sign_in(page.context)}"


def _take(page: Page, home: str, picture: Picture) -> None:
    page.goto(home + picture.path)
    if picture.by is not None:
        page.locator(picture.by).first.click()
    page.locator(picture.ready).first.wait_for(state="attached")
    page.locator(".waiting").first.wait_for(state="detached")
    file = IMAGES / f"{picture.name}.png"
    page.screenshot(path=file)
    page.context.close()
    if file.stat().st_size > BYTES_MAX:
        raise ValueError(f"{file} has {file.stat().st_size:,} bytes, more than {BYTES_MAX:,}")


if __name__ == "__main__":
    main()
