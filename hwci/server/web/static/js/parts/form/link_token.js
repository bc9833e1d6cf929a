// SPDX-License-Identifier: Apache-2.0
// The token of a link that works once. It is in the address after "#", which no browser sends anywhere.

import { useLayoutEffect, useState } from "../../html.js";

/** The token of the link; also of a second link opened on this page, which reloads nothing. */
export function useToken() {
  const inAddress = () => window.location.hash.slice(1);
  const [token, setToken] = useState(inAddress);
  useLayoutEffect(() => { // before the page is seen
    const take = () => {
      if (!inAddress()) return;
      setToken(inAddress());
      // Keep it off the screen and out of the history.
      window.history.replaceState(null, "", window.location.pathname);
    };
    take();
    window.addEventListener("hashchange", take);
    return () => window.removeEventListener("hashchange", take);
  }, []);
  return token;
}
