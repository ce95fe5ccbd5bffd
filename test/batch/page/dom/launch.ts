/** Starts Chromium, also for measurements, which run without vitest. */
import { type Browser, chromium } from 'playwright-core';
import { locateProgram } from '../../../../src/media/programs/programs.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The browser of this machine; null where there is none: `apt-get install chromium`. */
export const CHROMIUM =
  NAMES.map((name) => locateProgram(name, process.env.PATH ?? '')).find((path) => path !== null) ?? null;

export function launchBrowser(): Promise<Browser> {
  // The page is our own; the sandbox of the browser does not work for root, as whom containers run.
  const args = ['--no-sandbox', '--autoplay-policy=no-user-gesture-required'];
  // No limit of its own: the caller has one, and a busy machine takes its time.
  return chromium.launch({ executablePath: CHROMIUM ?? '', args, timeout: 0 });
}
