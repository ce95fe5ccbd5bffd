/** The page of a package in a real browser, unpacked elsewhere, as its readers open it. */
import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { CHROMIUM, launchBrowser } from '../batch/page/dom/launch.ts';
import { startStaging } from '../commands/stages/staging.ts';
import { makeFolder } from '../support/make-folder.ts';

it.skipIf(CHROMIUM === null)(
  'the page of a package plays its videos anywhere, links only to what is there, and shows no command',
  async () => {
    const vloc = await startStaging();
    // The engines of this test write the original in capitals, which needs a person.
    await vloc.run(['localize', 'talk.mp4', '--to', 'es', '--out', 'out', '--from-subtitles']);
    const { code, stderr } = await vloc.run(['batch', 'pack', 'out', 'pack']);
    expect(code, stderr).toBe(0);
    const folder = join(makeFolder(), 'a #1 folder');
    await rename(vloc.path('pack'), folder);
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      const failed: string[] = [];
      page.on('requestfailed', (request) => failed.push(request.url()));
      await page.goto(pathToFileURL(join(folder, 'report.html')).href);
      await page.waitForSelector('.places, .attention');
      const attention = (await page.textContent('#page')) ?? '';
      await page.locator('.entries a').first().click();
      const playable =
        '[...document.querySelectorAll("video")].filter(({ readyState }) => readyState >= 2).length';
      await expect.poll(() => page.evaluate<number>(playable)).toBe(2);
      const links = await page.evaluate<string[]>(
        '[...document.querySelectorAll(".files a")].map(({ href }) => href)',
      );
      expect(links.length).toBe(4);
      for (const link of links) {
        expect(dirname(dirname(fileURLToPath(link)))).toBe(folder);
        expect(existsSync(fileURLToPath(link)), link).toBe(true);
      }
      const text = `${attention} ${await page.textContent('#page')}`.replace(/vloc report/g, '');
      expect(text).toContain('EQUAL');
      expect(text).not.toMatch(/vloc |run the command/);
      expect(failed).toEqual([]);
    } finally {
      await browser.close();
    }
  },
);
