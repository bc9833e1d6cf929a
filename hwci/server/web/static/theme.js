// SPDX-License-Identifier: Apache-2.0
// The theme that the reader chose, set before anything is drawn: this is not a module, so that the page
// waits for it. Other tabs follow. What may be chosen stands in js/parts/frame/theme.js.
{
  const apply = () => {
    let theme = null;
    try {
      theme = window.localStorage.getItem("hwci-theme");
    } catch {
      // A browser that keeps nothing has the system's theme.
    }
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  };
  window.addEventListener("storage", apply);
  apply();
}
