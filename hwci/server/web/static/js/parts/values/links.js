// SPDX-License-Identifier: Apache-2.0
// Links into the site that has a repository, from the templates of its products' configurations (contract,
// "Links"): commits, files, and the pull requests that subjects name.

import { useAll } from "../../asking.js";
import { html } from "../../html.js";
import { Outside } from "./outside.js";

// As GitHub, GitLab and Azure write it into the subject of a merge; of one squashed by GitHub it stands at the end.
const PULL = /(?:#|!|\bPR )(\d+)\b/;
const SQUASHED = /\(#(\d+)\)$/;
let templates = new Map(); // by repository, of the organization that was asked about last

/** Ask for the known products, as `useAll`; from then on links of their repositories are known. */
export function useProducts(orgId, wanted = true) {
  const answer = useAll(wanted ? `/api/orgs/${orgId}/products` : null);
  know(answer.data);
  return answer;
}

/** Return the known products: `first`, a page of them that another answer has (null: not yet), if it has them all. */
export function useProductsOf(orgId, first) {
  const isPart = first !== null && first.total > first.items.length;
  const all = useProducts(orgId, isPart);
  const known = isPart ? all.data : (first?.items ?? null);
  know(known);
  return known;
}

function know(products) {
  if (products) templates = new Map(products.filter(({ links }) => links).map(({ repoKey, links }) => [repoKey, links]));
}

/** The page of a commit, beside its hash. */
export function CommitLink({ repo, sha }) {
  const href = filled(repo, "commit", { sha });
  return href && html` <${Outside} href=${href} label=${`Open commit ${sha}`}>↗<//>`;
}

/** A changed file, which leads to its content at the commit. */
export function FileLink({ repo, sha, path }) {
  return html`<${Outside} href=${filled(repo, "file", { sha, path })}><code>${path}</code><//>`;
}

/** The pull request that a subject names. */
export function PullLink({ repo, subject }) {
  const [written, number] = SQUASHED.exec(subject) ?? PULL.exec(subject) ?? [];
  const href = number && filled(repo, "pull", { number });
  const mark = written?.replace(/[()]/g, "");
  return href ? html` <${Outside} href=${href} label=${`Open pull request ${mark}`}>${mark}\u00a0↗<//>` : null;
}

function filled(repo, kind, values) {
  const known = { repo, ...values };
  const write = (_, name) => (known[name] ?? "").split("/").map(encodeURIComponent).join("/");
  return templates.get(repo)?.[kind]?.replace(/\{(\w+)\}/g, write) ?? null;
}
