/** Light or dark: as the system has it, until the reader chooses. */

const KEY = 'vloc-report-theme';

/** Applies the choice of an earlier visit. */
export function restoreTheme(): void {
  const chosen = readChoice();
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
}

/** Changes to the other one and remembers it where the browser allows. */
export function toggleTheme(): void {
  const { dataset } = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const next = (dataset.theme ?? system) === 'dark' ? 'light' : 'dark';
  dataset.theme = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Some browsers give files from disk no storage; the choice then lasts as long as the page is open.
  }
}

function readChoice(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
