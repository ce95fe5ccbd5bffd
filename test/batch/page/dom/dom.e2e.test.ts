import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectNoBarriers, useReport, type View } from './browser.ts';
import { CHROMIUM } from './launch.ts';
import { HOSTILE, HOSTILE_ENGINE, makeFacts } from './sample-report.ts';

/** A desk by day, and a phone by night. */
const VIEWS = [
  { size: { width: 1440, height: 900 }, colorScheme: 'light' },
  { size: { width: 390, height: 844 }, colorScheme: 'dark' },
] as const;

/** Where each picture stands, in seconds. */
function pictureTimes(page: Page): Promise<number[]> {
  return page.$$eval('video', (videos) => videos.map((video) => video.currentTime));
}

const ready = (page: Page) =>
  page.waitForFunction(() => [...document.querySelectorAll('video')].every((video) => video.readyState >= 2));

/** Clicks the entry at `place` of the list, and waits until it is shown: until then, the first one may be. */
async function openEntry(page: Page, place: number): Promise<void> {
  const entry = page.locator('.entries a').nth(place);
  await entry.click();
  await expect.poll(() => entry.getAttribute('aria-current')).toBe('page');
}

// Without a browser, these are reported as skipped; CONTRIBUTING says how to get one.
describe.skipIf(CHROMIUM === null)('the page in a browser', () => {
  const report = useReport(makeFacts);

  /** Opens the report, or the entry at `place` of its list. */
  async function open(place: number | null, view: View = {}) {
    const opened = await report.open(view);
    if (place !== null) await openEntry(opened.page, place);
    return opened;
  }

  it('shows the engine, how each cue was made to fit and each line fits, warns of those cut off, and prints that', async () => {
    const { page } = await open(1);
    await expect.poll(() => page.locator('.entries a').nth(1).textContent()).toContain('cues cut off');
    const warning = page.locator('section[aria-label="Cues are cut off"]');
    await expect.poll(() => warning.textContent()).toContain('cut off: 2.');
    await expect.poll(() => warning.textContent()).toContain('--from-subtitles');
    await expect
      .poll(() => page.locator('.jobs').textContent())
      .toContain(`spoken by espeak-ng instead of ${HOSTILE_ENGINE}, which does not support the language`);
    await expect
      .poll(() => page.locator('.cues li').allTextContents())
      .toEqual([
        'Cue 1spoken 1.25 times as fast',
        'Cue 2spoken 1.40 times as fast, stretched to 4.00 times the tempo, 0.5 s cut off',
      ]);
    await expect
      .poll(() => page.locator('.lines .made').allTextContents())
      .toEqual([
        'spoken 1.25 times as fast',
        'spoken 1.40 times as fast, stretched to 4.00 times the tempo, 0.5 s cut off',
      ]);
    await expect.poll(() => page.locator('svg[onload]').count()).toBe(0);
    await expect
      .poll(() => page.locator('.fit .words').allTextContents())
      .toEqual(['0.5 s over 1.5 s', 'silent for 1.5 s', 'silent for 1.5 s']);
    await expect.poll(() => page.locator('.mark').count()).toBe(3);
    // On paper there are no controls.
    await page.emulateMedia({ media: 'print' });
    for (const name of ['.transport', '.tools', '.buttons', '.screens']) {
      await expect.poll(() => page.locator(name).first().isVisible()).toBe(false);
    }
    await expect.poll(() => page.locator('.entries a').count()).toBe(2);
    await expect.poll(() => page.locator('.lines li').last().isVisible()).toBe(true);
  });

  it('puts failures first, with what to do, shows outside names and messages as text, and requests only the media beside it', async () => {
    const { page, requests, complaints } = await open(0);
    const article = page.locator('article');
    for (const text of ['ENGINE_ERROR', 'req_42', 'Try later.'])
      await expect.poll(() => article.textContent()).toContain(text);
    await expect.poll(() => page.locator('h2').first().textContent()).toBe(HOSTILE);
    await expect.poll(() => page.locator('img').count()).toBe(0);
    await openEntry(page, 1);
    await ready(page);
    expect(requests.length).toBeGreaterThan(2);
    expect(requests.filter((address) => !address.startsWith('file:///'))).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('plays and seeks both pictures together, with the sound of one or another track', async () => {
    const { page } = await open(1);
    await ready(page);
    await page.locator('h2').first().press('Space');
    await page.waitForFunction(() => {
      const times = [...document.querySelectorAll('video')].map((video) => video.currentTime);
      return Math.min(...times) > 0.7 && Math.max(...times) - Math.min(...times) < 0.3;
    });
    await expect
      .poll(() => page.$$eval('video', (videos) => videos.map((video) => video.muted)))
      .toEqual([true, false]);
    await page.keyboard.press('Space');
    await expect
      .poll(() => page.$$eval('video', (videos) => videos.map((video) => video.paused)))
      .toEqual([true, true]);
    // A line, an arrow and the waveform move both.
    await page.locator('.time').nth(1).click();
    await expect.poll(() => pictureTimes(page)).toEqual([3, 3]);
    await expect.poll(() => page.locator('.lines [aria-current]').textContent()).toContain('dos');
    await expect.poll(() => page.locator('.caption').allTextContents()).toEqual(['two', 'dos.']);
    await page.locator('h2').first().focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => pictureTimes(page)).toEqual([8, 8]);
    const lane = await page.locator('.lane').first().boundingBox();
    if (lane === null) throw new Error('there is no waveform');
    await page.mouse.click(lane.x + lane.width / 2, lane.y + 5);
    await expect.poll(async () => (await pictureTimes(page)).map(Math.round)).toEqual([5, 5]);
    // Another track is heard from the same time.
    await page.locator('.time').nth(1).click();
    await page.locator('h2').first().press('3');
    await expect.poll(() => page.locator('.wave label:has(:checked)').textContent()).toBe('Dub');
    await page.keyboard.press('Space');
    // Pictures without sound continue beside the dub.
    await page.waitForFunction(() =>
      [...document.querySelectorAll('video')].every((video) => video.currentTime > 3.5 && video.muted),
    );
    await page.keyboard.press('Space');
  });

  it('can be searched, filtered and left with keys', async () => {
    const { page } = await open(null);
    await page.keyboard.press('/');
    await page.keyboard.type('tres');
    await expect.poll(() => page.locator('.entries a').count()).toBe(1);
    await expect.poll(() => page.locator('.count').textContent()).toBe('1 of 2');
    await page.keyboard.press('Escape');
    await page.keyboard.press(']');
    await page.waitForSelector('article');
    await page.keyboard.press('Escape');
    await page.waitForSelector('article', { state: 'detached' });
  });

  it('switches from dark to light with a key, and remembers it', async () => {
    const { page } = await open(null, { colorScheme: 'dark' });
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await ground();
    await page.keyboard.press('t');
    await expect.poll(ground).not.toBe(dark);
    const light = await ground();
    await page.reload();
    await expect.poll(ground).toBe(light);
  });

  it('returns to the list on a phone with the button of the browser', async () => {
    const { page } = await open(1, { size: { width: 390, height: 844 } });
    await expect.poll(() => page.locator('.entries').isVisible()).toBe(false);
    await page.goBack();
    await page.locator('.entries').waitFor({ state: 'visible' });
  });

  it.each(VIEWS)(
    'has no barrier that axe finds, nor scrolls sideways, at $size.width in $colorScheme',
    async (view) => {
      const { page } = await open(null, view);
      for (const fragment of ['', 'e1', 'e2']) {
        await page.evaluate((hash) => {
          location.hash = hash;
        }, fragment);
        const current = page.locator('.entries [aria-current]');
        await expect
          .poll(() => current.evaluateAll((links) => links.map((link) => link.getAttribute('href'))))
          .toEqual(fragment === '' ? [] : [`#${fragment}`]);
        await expectNoBarriers(page);
      }
    },
  );

  it('creates players only for the open one of five hundred videos, and lays out only what is visible', async () => {
    const { facts } = report;
    const [failed, done] = facts.entries;
    if (failed === undefined || done === undefined) throw new Error('there are no entries');
    const entries = Array.from({ length: 500 }, (_, at) => ({
      ...failed,
      id: `e${at + 1}`,
      name: `lesson ${at + 1}`,
    }));
    const { page } = await report.open({}, { ...facts, entries });
    await expect.poll(() => page.locator('.entries li').count()).toBe(500);
    // The first is open: its two videos and its dub.
    await expect.poll(() => page.locator('article video').count()).toBe(2);
    const countLaidOut = () =>
      page.$$eval(
        '.entries .name',
        (names) => names.filter((name) => name.checkVisibility({ contentVisibilityAuto: true })).length,
      );
    await expect.poll(countLaidOut).toBeLessThan(60);
    await page.locator('.entries a').last().click();
    await expect.poll(() => page.locator('article h2').textContent()).toBe('lesson 500');
  });
});
