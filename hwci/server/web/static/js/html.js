// SPDX-License-Identifier: Apache-2.0
// How views are written: one import for the vendored libraries, so that no other module names them.

import { h, render } from "../vendor/preact.js";
import { useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import htm from "../vendor/htm.js";

export const html = htm.bind(h);
export { render, useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState };
