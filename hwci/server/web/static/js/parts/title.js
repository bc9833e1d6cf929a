// SPDX-License-Identifier: Apache-2.0
// What the browser calls a page that has a name of its own, such as one failure or one run.

import { useEffect } from "../html.js";

/** Call the page so while it is shown. */
export function useTitle(title) {
  useEffect(() => {
    document.title = `${title} · hwci`;
    return () => {
      document.title = "hwci";
    };
  }, [title]);
}
