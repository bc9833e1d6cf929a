# SPDX-License-Identifier: Apache-2.0
"""What moved on a page, as the browser itself tells."""

from typing import Any

from playwright.sync_api import Page

TELL_MOVES = """
  window.moved = [];
  const tell = ({ value, sources }) => {
    const inMain = sources.filter(({ node }) => node?.parentElement?.closest("main"));
    const at = ({ x, y }) => `${x},${y}`;
    const named = ({ node, previousRect, currentRect }) =>
      `${node.outerHTML ?? node.data} from ${at(previousRect)} to ${at(currentRect)}`;
    if (inMain.length > 0) window.moved.push([value, ...inMain.map(named)]);
  };
  const moves = new PerformanceObserver((list) => list.getEntries().forEach(tell));
  moves.observe({ type: "layout-shift", buffered: true });
"""
TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def moved(page: Page) -> Any:
    """Return what moved until now, once it is drawn."""
    page.evaluate(TWO_FRAMES)
    return page.evaluate("window.moved")
