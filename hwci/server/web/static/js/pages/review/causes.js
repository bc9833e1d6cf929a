// SPDX-License-Identifier: Apache-2.0
// The causes of the inbox: those that were found, more of them, and how they are now that somebody reviewed their failures.
// What a review takes out of a list stays in its place until the next visit; a Reset takes it out of the reviewed ones.

import { get } from "../../api.js";
import { useAnswer } from "../../asking.js";
import { useEffect, useRef, useState } from "../../html.js";

/** The most that the API gives at once. */
export const ASKED = 100;

/**
 * The causes. Return `{causes, listed, left, gone, replace(id, change), more}`: `listed` are those that are not `gone` from the list,
 * `left` is how many of all still belong to it.
 */
export function useCauses({ path, query, list, found }) {
  const [causes, setCauses] = useState(found.items);
  const more = useMore({ path, query, list, found, causes, setCauses });
  const replace = (id, change_) => setCauses((was) => was.map((one) => (one.id === id ? change_(one) : one)));
  const listed = causes.filter(({ isGone }) => !isGone);
  const left = more.total - causes.filter((one) => !list.holds(one)).length;
  return { causes, listed, left, gone: causes.length - listed.length, replace, more };
}

/** A cause with its failures as they are now, of those that are given. */
export function renewed(cause, failures) {
  const now = new Map(failures.map((one) => [one.id, one]));
  return { ...cause, failures: cause.failures.map((failure) => now.get(failure.id) ?? failure) };
}

/**
 * The causes beyond those that are shown. What a review took out of the list is no longer in that of the API, so that those
 * that are left come first there, and the next ones after as many: in one page of it and the one after.
 */
function useMore({ path, query, list, found, causes, setCauses }) {
  const [total, setTotal] = useState(found.total);
  const [fault, setFault] = useState(null);
  const busy = useRef(false);
  const show = async () => {
    if (busy.current) return;
    busy.current = true;
    try {
      const waiting = causes.filter(list.holds).length;
      const page = Math.floor(waiting / ASKED) + 1;
      const lists = await Promise.all([page, page + 1].map((one) => get(path, { ...query, page: one })));
      const known = new Set(causes.map(({ id }) => id));
      setCauses((was) => [...was, ...lists.flatMap(({ items }) => items).filter(({ id }) => !known.has(id))]);
      setTotal(lists[0].total + causes.length - waiting);
      setFault(null);
    } catch (error) {
      setFault(error);
    }
    busy.current = false;
  };
  return { total, left: total - causes.length, show, fault };
}

/** Ask how the failures of a cause are now, whoever reviewed them, each time that `next` is another one. */
export function useFresh({ path, query, list, next, cause, replace }) {
  const all = { ...query, toReview: null, reviewed: null, search: cause?.failures[0].firstFailure.sha };
  const { data } = useAnswer(next ? path : null, all, next);
  useEffect(() => {
    if (!data) return;
    replace(cause.id, (was) => {
      const now = renewed(was, data.items.flatMap(({ failures }) => failures));
      return { ...now, isGone: was.isGone && !list.holds(now) };
    });
  }, [data]);
}
