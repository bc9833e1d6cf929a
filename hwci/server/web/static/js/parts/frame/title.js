// SPDX-License-Identifier: Apache-2.0
// The window title of a page with a name of its own, such as one failure or one run.

import { useEffect } from "../../html.js";

/** Set the window title while the page is shown. */
export function useTitle(title) {
  useEffect(() => {
    document.title = `${title} · hwci`;
    return () => {
      document.title = "hwci";
    };
  }, [title]);
}
