// SPDX-License-Identifier: Apache-2.0
// The providers of single sign-on, for the pages on which somebody signs in or registers (contract, "Auth").

import { getOpenly } from "../../api.js";
import { useEffect, useState } from "../../html.js";

/** The providers; none until they are known. Without an answer there is still the password. */
export function useProviders() {
  const [providers, setProviders] = useState([]);
  useEffect(() => {
    getOpenly("/api/auth/sso").then((found) => setProviders(found.providers), () => {});
  }, []);
  return providers;
}

/** The address at which the sign-in through a provider begins. */
export function loginPath(name) {
  return `/api/auth/sso/${encodeURIComponent(name)}/login`;
}
