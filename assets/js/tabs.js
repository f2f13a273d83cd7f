/** The page's tabs, which Gradio draws: open one by its name, or the one that the address asks for. */

const named = (name) => [...document.querySelectorAll('#tabs [role="tab"]')].find((tab) => tab.textContent.trim().toLowerCase() === name.toLowerCase());

export function openTab(name) {
  named(name)?.click();
}

/** `?tab=planner` opens that tab at once. */
export function tabAsked() {
  const asked = new URLSearchParams(location.search).get("tab");
  if (asked) openTab(asked.slice(0, 40));
}
