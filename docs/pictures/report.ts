/** Takes a screenshot of a report with a browser of this machine. */
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

/** A desktop window; the picture is shown at half its size. */
const VIEW = { width: 1280, height: 1180 };

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
    // Both videos have reached the line.
    await page.waitForFunction(
      "[...document.querySelectorAll('video')].every((video) => video.readyState >= 2 && !video.seeking)",
    );
    await page.screenshot({ path: to });
  } finally {
    await running.close();
  }
}
