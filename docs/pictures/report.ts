/** A picture of a report, by a browser of this machine. */
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

/** As a window on a desk; the picture is read at half its size. */
const VIEW = { width: 1280, height: 1180 };

/**
 * Opens an entry, goes to its third line and takes a picture.
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
    // Both pictures have arrived at the line.
    await page.waitForFunction(
      "[...document.querySelectorAll('video')].every((video) => video.readyState >= 2 && !video.seeking)",
    );
    await page.screenshot({ path: to });
  } finally {
    await running.close();
  }
}
