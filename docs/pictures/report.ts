/** Takes a screenshot of a report with an installed browser. */
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

/** A desktop window. The picture is shown at half its size. */
const VIEW = { width: 1280, height: 1180 };

/** The videos are checked twenty times per second, for at most half a minute. */
const ROUND_MS = 50;
const ROUNDS = 600;

/** The properties of a video element that are read. The project has no DOM types outside the page itself. */
interface Video {
  /** From 2, the current picture is available. Source: HTML, "readyState". */
  readonly readyState: number;
  readonly seeking: boolean;
}

function haveReachedTheLine(videos: readonly Video[]): boolean {
  return videos.every(({ readyState, seeking }) => readyState >= 2 && !seeking);
}

/** Takes a screenshot of what needs a person, with one text changed. @param browser path of a Chromium */
export async function pictureAttention(browser: string, file: string, to: string): Promise<void> {
  const running = await chromium.launch({ executablePath: browser, args: ['--no-sandbox'] });
  try {
    const page = await running.newPage({ viewport: { width: 1280, height: 760 }, colorScheme: 'light' });
    await page.goto(`${pathToFileURL(file).href}#attention`);
    const text = page.locator('.place textarea').first();
    await text.fill(`${await text.inputValue()} (1984)`);
    const download = page.waitForEvent('download');
    await page.evaluate('delete window.showSaveFilePicker');
    await page.locator('.place button').first().click();
    await download;
    await page.locator('.saved code').first().waitFor();
    await page.screenshot({ path: to });
  } finally {
    await running.close();
  }
}

/**
 * Opens an entry, seeks to its third line and takes a screenshot.
 * @param browser path of a Chromium
 */
export async function pictureReport(
  browser: string,
  file: string,
  entry: { readonly name: string; readonly language: string },
  to: string,
): Promise<void> {
  const running = await chromium.launch({ executablePath: browser, args: ['--no-sandbox'] });
  try {
    const page = await running.newPage({ viewport: VIEW, colorScheme: 'light' });
    await page.goto(pathToFileURL(file).href);
    const tag = page.locator('.tag', { hasText: entry.language });
    await page.locator('.entries a', { hasText: entry.name, has: tag }).click();
    await page.locator('.time').nth(2).click();
    const videos = page.locator('video');
    // The report's Content-Security-Policy refuses waitForFunction with a string.
    for (let round = 0; !(await videos.evaluateAll<boolean, Video>(haveReachedTheLine)); round += 1) {
      if (round >= ROUNDS) throw new Error('the videos of the report do not load');
      await page.waitForTimeout(ROUND_MS);
    }
    await page.screenshot({ path: to });
  } finally {
    await running.close();
  }
}
