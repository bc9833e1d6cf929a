# SPDX-License-Identifier: Apache-2.0
"""Modules do the same whether a browser is sent each of them or the files they are joined in."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from posixpath import dirname, relpath
from random import Random
from threading import Thread

import pytest
from playwright.sync_api import Page

import hwci.server.web
from hwci.server.web.modules import HOME, SHARED, SHARED_WITH_HOME, joined, loaded_with
from hwci.server.web.site import Site

STATIC = Path(hwci.server.web.__file__).with_name("static")
BEGIN = ("js/begin.js", "js/main.js")
VENDORED = {f"vendor/{path.name}" for path in (STATIC / "vendor").glob("*.js")}
APART = ("js/apart.js",)
FOLDERS = ("js", "js/parts", "js/pages", "js/pages/one")
GRAPHS = 40
ICON = '<!doctype html><link rel="icon" href="data:,">'

Sources = dict[str, str]


def made_up(random: Random) -> Sources:
    """Make modules that import each other in no circle: `main.js` is the last of them."""
    inner = [f"{random.choice(FOLDERS)}/m{number}.js" for number in range(random.randint(2, 12))]
    names = [*APART, *inner, *BEGIN]
    sources = {}
    for number, name in enumerate(names):
        beside = random.sample(range(number), random.randint(0, min(number, 4)))
        later = random.sample(range(1, number), min(2, number - 1)) if number > 1 else []
        sources[name] = written(name, number, {one: path(names[one], name) for one in beside})
        sources[name] += content(number, beside, {one: path(names[one], name) for one in later})
    return sources


def path(name: str, beside: str) -> str:
    found = relpath(name, dirname(beside))
    return found if found.startswith(".") else f"./{found}"


def written(name: str, number: int, beside: Mapping[int, str]) -> str:
    """Write what a module is made of; names that it keeps to itself are those of all others."""
    imports = "".join(
        f'import {{ value{one}, read{one}, Kind{one} }} from "{where}";\n'
        for one, where in beside.items()
    )
    values = "".join(f", value{one}" for one in beside)
    return f"""{imports}
const OWN = "{name}";
globalThis.ran.push(OWN);
export const value{number} = [OWN{values}];
export function read{number}() {{
  return [OWN, value{number}];
}}
export class Kind{number} {{
  kind = OWN;
}}
"""


def content(number: int, beside: list[int], later: Mapping[int, str]) -> str:
    """Write the one function that every module exports: all that it comes to by its imports."""
    near = "".join(f", read{one}(), new Kind{one}().kind" for one in beside)
    far = "".join(f', (await import("{where}")).read{one}()' for one, where in later.items())
    return f"export async function tell() {{\n  return [read{number}(){near}{far}];\n}}\n"


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the files of a folder."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Log no request."""

    handler = partial(Quiet, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


RUN = """async ([base, joined]) => {
  globalThis.ran = [];
  await import(`${base}/js/begin.js`);
  const main = await import(`${base}/js/main.js`);
  return { told: await (joined ? main.js_main : main).tell(), ran: globalThis.ran };
}"""


@pytest.fixture(scope="module")
def graphs() -> list[Sources]:
    return [made_up(Random(seed)) for seed in range(GRAPHS)]


def test_joined_modules_do_what_they_do_each_by_itself(
    page: Page, tmp_path: Path, graphs: list[Sources]
) -> None:
    write(tmp_path, {"index.html": ICON})
    for number, sources in enumerate(graphs):
        write(tmp_path / f"each{number}", sources)
        write(tmp_path / f"joined{number}", joined(sources, BEGIN, APART))
    shared = 0
    with served(tmp_path) as url:
        page.goto(f"{url}/index.html")
        for number, sources in enumerate(graphs):
            each = page.evaluate(RUN, [f"{url}/each{number}", False])
            found = page.evaluate(RUN, [f"{url}/joined{number}", True])

            assert found["told"] == each["told"]
            assert set(each["ran"]) <= set(found["ran"])
            assert len(found["ran"]) == len(set(found["ran"])), "a module runs once"
            assert runs_after_what_it_imports(found["ran"], sources)
            shared += SHARED in joined(sources, BEGIN, APART)
    assert 5 < shared < GRAPHS - 5


def runs_after_what_it_imports(ran: list[str], sources: Sources) -> bool:
    place = {name: at for at, name in enumerate(ran)}
    return all(
        place[imported] < place[name]
        for name in ran
        for imported in loaded_with([name], sources)
        if imported != name
    )


def test_a_module_sees_no_name_that_it_does_not_import(page: Page, tmp_path: Path) -> None:
    sources = {
        "js/begin.js": "",
        "js/near.js": 'export const secret = "seen";\n',
        "js/main.js": 'import { secret } from "./near.js";\nimport { seen } from "./blind.js";\n'
        "export const tell = () => [secret, seen];\n",
        "js/blind.js": "export const seen = typeof secret;\n",
    }
    write(tmp_path, joined(sources, BEGIN, ()) | {"index.html": ICON})
    with served(tmp_path) as url:
        page.goto(f"{url}/index.html")
        assert page.evaluate(RUN, [url, True])["told"] == ["seen", "undefined"]


def test_a_file_holds_what_no_file_before_it_does() -> None:
    sources = {
        "js/begin.js": 'import { a } from "./a.js";\n',
        "js/main.js": 'import { a } from "./a.js";\nimport { b } from "./b.js";\n'
        'const pages = [() => import("./pages/one.js"), () => import("./pages/two.js"),\n'
        '  () => import("./pages/metrics.js")];\n',
        "js/a.js": "export const a = 1;\n",
        "js/b.js": "export const b = 2;\n",
        "js/both.js": 'import { b } from "./b.js";\nexport const both = b;\n',
        "js/pages/one.js": 'import { both } from "../both.js";\nimport { own } from "./own.js";\n',
        "js/pages/two.js": 'import { both } from "../both.js";\nimport { too } from "../too.js";\n',
        "js/pages/metrics.js": 'import { too } from "../too.js";\n',
        "js/too.js": "export const too = 5;\n",
        "js/pages/own.js": "export const own = 3;\n",
        "js/nobody.js": "export const nobody = 4;\n",
    }
    files = joined(sources, BEGIN, ())

    functions = re.compile(r"^const (\w+) = \(", re.MULTILINE)
    assert {file: functions.findall(text) for file, text in files.items()} == {
        "js/begin.js": ["js_a", "js_begin"],
        "js/main.js": ["js_b", "js_main"],
        SHARED: ["js_both"],
        "js/pages/one.js": ["js_pages_own", "js_pages_one"],
        SHARED_WITH_HOME: ["js_too"],
        "js/pages/two.js": ["js_pages_two"],
        HOME: ["js_pages_metrics"],
    }
    needed = loaded_with((*BEGIN, "js/pages/two.js"), files)
    assert needed == ["js/begin.js", "js/main.js", "js/pages/two.js", SHARED, SHARED_WITH_HOME]
    assert loaded_with([HOME], files) == [HOME, SHARED_WITH_HOME]


REFUSED = {
    'import "./a.js";': "of this form",
    'import a from "./a.js";': "of this form",
    'import * as a from "./a.js";': "of this form",
    'import { a as b } from "./a.js";': "does not export",
    'import { b } from "./a.js";': "does not export",
    'import { b } from "./main.js";': "in a circle: js/main.js > js/main.js",
    "export default 1;": "of this form",
    "export let b = 1;": "of this form",
    "export const { b } = {};": "of this form",
    "export { document as b };": "of this form",
    'export { a } from "./a.js";': "of this form",
    'export * from "./a.js";': "of this form",
    "export { document };": "of this form",
    "export function* b() {}": "of this form",
    " export { a };": "of this form",
    "const b = 1; export { b };": "of this form",
    '  import { a } from "./a.js";': "to others: import { a } from",
    'const b = 1; import { a } from "./a.js";': "to others: import { a } from",
    "import { a } from './a.js';": "of this form",
    'import { a } from "./a.js";\r': "of this form",
    'import { a } from "bare";': "of this form",
    "await null;": "of this form",
    "const b = await null;": "of this form",
    "for await (const b of []) b;": "of this form",
    "const here = import.meta.url;": "of this form",
    "const later = () => import('./a.js');": "of this form",
    "const later = () => import(`./a.js`);": "of this form",
    'const later = () => import(\n  "./a.js"\n);': "of this form",
    "const later = (name) => import(name);": "of this form",
    'const later = () => import("./apart.js");': "js/apart.js is sent as it is",
    'import { b } from "./no.js";': "js/main.js imports js/no.js: there is no",
    'const later = () => import("./no.js");': "js/main.js imports js/no.js: there is no",
}


@pytest.mark.parametrize(("line", "why"), REFUSED.items())
def test_a_module_of_another_form_is_refused(line: str, why: str) -> None:
    sources = {"js/a.js": "export const a = 1;\n", "js/main.js": f"{line}\n"}

    with pytest.raises(ValueError, match=re.escape(why)):
        joined(sources | dict.fromkeys(APART, ""), ["js/main.js"], APART)


@pytest.mark.parametrize("line", ["import { a } from './a.js';", 'import("./a.js");'])
def test_what_is_sent_as_it_is_imports_nothing_that_is_not(line: str) -> None:
    sources = {"js/a.js": "export const a = 1;\n", "js/apart.js": f"{line}\n", "js/main.js": ""}

    with pytest.raises(ValueError, match=r"js/apart.js is sent as it is, and js/a.js is not"):
        joined(sources, ["js/main.js"], APART)


def test_two_modules_that_would_have_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match=r"js/a/b.js and js/a_b.js would both be js_a_b"):
        joined({"js/a/b.js": "", "js/a_b.js": "", "js/main.js": ""}, ["js/main.js"], ())


LIKE_FORMS = """// not from "./main.js", and none of "from './no.js'"
import {
  $one,
  two$,
} from "./names.js";
const lines = `
export KEY=1
exported
import os, sys

pytestmark = pytest.mark.own_tab
  import pytest
`;
export const tell = async () => [lines, await $one, two$]; // with no line after it"""


def test_a_module_may_speak_of_imports_and_end_as_it_likes(page: Page, tmp_path: Path) -> None:
    names = 'export const $one = 1;\nexport const two$ = "2"\nlet own'
    sources = {"js/begin.js": "", "js/main.js": LIKE_FORMS, "js/names.js": names}
    write(tmp_path / "each", sources)
    write(tmp_path / "joined", joined(sources, BEGIN, ()) | {"index.html": ICON})
    with served(tmp_path) as url:
        page.goto(f"{url}/joined/index.html")
        each = page.evaluate(RUN, [f"{url}/each", False])["told"]
        assert page.evaluate(RUN, [f"{url}/joined", True])["told"] == each
    assert each[0].splitlines()[1:3] == ["export KEY=1", "exported"]


def code(text: str) -> str:
    """Leave out the lines of comments, and empty ones."""
    lines, within = [], False
    for line in text.splitlines():
        bare = line.strip()
        within |= bare.startswith("/**")
        if bare and not within and not bare.startswith("//"):
            lines.append(line)
        within &= not bare.endswith("*/")
    return "\n".join(lines) + "\n"


def test_every_module_of_the_dashboard_is_sent_once_and_whole_but_for_its_comments() -> None:
    sent = Site().scripts
    scripts = "".join(map(code, sent.values()))
    joining = re.compile(
        r'^import [^;]+ from "[^"]+";\n|^export (?!{)|import\("[^"]+"\)', re.MULTILINE
    )
    modules = sorted((STATIC / "js").rglob("*.js"))

    for module in modules:
        pieces = joining.split(code(module.read_text()))
        assert scripts.count(max(pieces, key=len)) == 1, module
        assert all(piece in scripts for piece in pieces), module
    assert len(modules) > 50
    ours = "".join(text for name, text in sent.items() if name not in {"js/html.js"} | VENDORED)
    assert re.findall(r"^\s*(?://|/\*\*).*", ours, re.MULTILINE) == []


def test_a_page_waits_for_few_files() -> None:
    waits = {
        page: document.plain.count(b"modulepreload") for page, document in Site().documents.items()
    }
    assert waits.pop("metrics") <= 8
    assert max(waits.values()) <= 9  # what only other pages share is a file of its own
