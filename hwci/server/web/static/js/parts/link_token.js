// SPDX-License-Identifier: Apache-2.0
// The token of a link that works once. It stands in the address after "#", which no browser sends anywhere.

import { useEffect, useState } from "../html.js";

/** The token of the link: also of one that is opened where this page stands, which loads nothing anew. */
export function useToken() {
  const inAddress = () => window.location.hash.slice(1);
  const [token, setToken] = useState(inAddress);
  useEffect(() => {
    const take = () => {
      if (!inAddress()) return;
      setToken(inAddress());
      // Nobody reads it over a shoulder, or finds it in the history.
      window.history.replaceState(null, "", window.location.pathname);
    };
    take();
    window.addEventListener("hashchange", take);
    return () => window.removeEventListener("hashchange", take);
  }, []);
  return token;
}
