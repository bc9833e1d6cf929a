// SPDX-License-Identifier: Apache-2.0
// The tests of a run: those that failed first, then those that run. A failed one leads to its evidence,
// where CI Metrics is on.

import { addressOf } from "../../address.js";
import { useAll } from "../../asking.js";
import { count, duration } from "../../format.js";
import { TestLink } from "../../parts/values/past.js";
import { html, useMemo, useState } from "../../html.js";
import { Empty } from "../../parts/notices/notice.js";
import { Section } from "../../parts/section.js";
import { PlainTable, Tools, noMatch, tableState } from "../../parts/table/table.js";
import { knownBadge } from "../../parts/values/labels.js";
import { Badge, LongName, Message } from "../../parts/values/values.js";
import { boards, log, outcomeBadge, verdict } from "../../parts/values/words.js";

const ROWS = 100;
const SEARCH_MAX = 200; // characters that the API searches for

/** The section. */
export function Tests({ run, address, orgId, organization }) {
  const [rows, setRows] = useState(ROWS);
  const asked = tableState("tests", address.query);
  const { search } = asked;
  const evidence = useEvidence(run, orgId, organization);
  const found = useMemo(() => sorted(run.items.filter(({ id }) => fits(id, search))), [run.items, search]);
  const hidden = found.length - rows;
  return html`<${Section} title="Tests" total=${run.tests.total} anchor="tests">
    ${run.items.length > 0 &&
      html`<${Tools} name="tests" label="tests" thing="test" asked=${asked} total=${found.length} />`}
    ${found.length > 0
      ? html`<${PlainTable} name="tests" label="Tests" rows=${found.slice(0, rows)} all=${found}
          rowKey=${({ id }) => id} columns=${columns(run, evidence, orgId)} />`
      : html`<${Empty}>${nothing(run, search)}<//>`}
    ${hidden > 0 && html`<button type="button" onClick=${() => setRows(rows + 5 * ROWS)}>
      Show more of ${count(hidden)} further tests</button>`}
  <//>`;
}

function columns(run, evidence, orgId) {
  const common = [
    { key: "outcome", title: "Outcome", cell: outcome },
    { key: "attempts", title: "Attempts", numeric: true, cell: ({ attempts }) => (attempts === null ? null : count(attempts)) },
  ];
  const test = { key: "test", title: "Test", name: true, cell: (item) => name(item, run, evidence, orgId) };
  if (run.status !== "reported") return [test, ...common];
  return [
    test,
    ...common,
    {
      key: "durationS",
      title: "Duration",
      numeric: true,
      cell: ({ durationS }) => (durationS === null ? null : duration(durationS, true)),
    },
    { key: "verdict", title: "Harness verdict", cell: (item) => (item.outcome === "fail" ? verdict(item.verdict) : null) },
    ...boards(run.items),
  ];
}

function name({ id, outcome: ended, message, logUrl, known }, { repoKey, suite }, evidence, orgId) {
  const failureId = ended === "fail" && evidence.get(id);
  const text = html`<${LongName} name=${id} />`;
  const failed = failureId ? html`<a href=${addressOf("failure", { orgId, failureId })}>${text}</a>` : text;
  const linked = ended === "fail" ? failed : html`<${TestLink} plain test=${{ repoKey, suite, testId: id }} orgId=${orgId} />`;
  return html`${linked}${knownBadge(known)}${log(logUrl)}<${Message} text=${message} />`;
}

function outcome({ outcome: ended, attempts }) {
  if (ended === null) return html`<${Badge} kind="live">running<//>`;
  return outcomeBadge(ended, attempts);
}

function nothing(run, search) {
  if (search) return noMatch("test", search);
  if (run.status === "running") return "The box has sent no test yet. The report will have them.";
  if (run.helloOk === false) return "No test ran. Look at the bench, then run it again.";
  return html`No test was recorded: the run left no result file, or not where ${" "}<code>--junit</code> points. The log of
    the job shows which.`;
}

function fits(id, search) {
  const text = id.toLowerCase();
  return search.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** Failed first, then running, then passed on a retry; within each in the order of the report. */
function sorted(items) {
  const place = ({ outcome: ended, attempts }) => (ended === "fail" ? 0 : ended === null ? 1 : attempts > 1 ? 2 : 3);
  return [...items].sort((a, b) => place(a) - place(b));
}

/** The failures of this run's product on its commit and box, by test, of the day up to its start. */
function useEvidence(run, orgId, organization) {
  const asks = run.status === "reported" && run.tests.failed > 0 && organization?.ciMetricsEnabled;
  const { repoKey, suite, sha, boxKey, startedAt } = run;
  const asOf = new Date(new Date(startedAt).getTime() + 1000).toISOString();
  const search = [...`${sha} ${boxKey}`].slice(0, SEARCH_MAX).join(""); // the beginning of a name narrows too
  const answer = useAll(asks ? `/api/orgs/${orgId}/ci-failures` : null, { repoKey, suite, days: 1, asOf, search });
  const same = (failure) => ["boxKey", "branch", "sha"].every((field) => failure[field] === run[field]);
  return new Map(answer.data?.filter(same).map(({ testId, id }) => [testId, id]));
}
