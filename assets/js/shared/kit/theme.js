/** Light or dark: Gradio's dark class on the body, kept for the next visit where the browser keeps anything. */

const KEY = "hx-theme";

export function rememberTheme() {
  try {
    const kept = localStorage.getItem(KEY);
    if (kept) document.body.classList.toggle("dark", kept === "dark");
  } catch {
    // No storage: the system's choice stands.
  }
}

export function toggleTheme() {
  const dark = document.body.classList.toggle("dark");
  try {
    localStorage.setItem(KEY, dark ? "dark" : "light");
  } catch {
    // A browser that keeps nothing shows its own choice at the next visit.
  }
}

export const isDark = () => document.body.classList.contains("dark");
