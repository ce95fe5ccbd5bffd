/** The page without a mouse: focus order, keys, and what Chromium tells a screen reader. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildReport, pathFrom } from '../../../../src/batch/report/page-build.ts';
import type { ReportFacts } from '../../../../src/batch/report/page-facts.ts';
import { formatSrt, parseSrt } from '../../../../src/protocol/srt.ts';
import { pageJob } from '../../report/page-job.ts';
import { useReport, type View } from './browser.ts';
import { CHROMIUM } from './launch.ts';

const TEXTS = [
  '<i>one</i> <font color="yellow">two</font>',
  '<b>bold</b> <img src=x onerror=alert(1)>',
  'last',
];
const LONG = 'Introduction to the thermodynamics of everyday life, lecture 07.mp4';
const PHONE: View = { size: { width: 390, height: 844 } };

/** Three videos whose files are there but no media: what is tested needs no picture. */
function makeFacts(folder: string): Promise<ReportFacts> {
  const write = (name: string) => {
    writeFileSync(join(folder, name), 'media');
    return join(folder, name);
  };
  const srt = formatSrt(
    TEXTS.map((text, at) => ({ index: at + 1, start_ms: at * 1000, end_ms: at * 1000 + 800, text })),
  );
  const jobs = ['a.mp4', LONG, 'c.mp4'].map((name) =>
    pageJob({
      input_name: name,
      input_path: write(name),
      target_language: 'es',
      files: [write(`es-${name}`)],
    }),
  );
  const silence = { stepMs: 20, decibels: new Int8Array(150).fill(-96) };
  return buildReport(
    { title: 'lessons', madeAt: '2026-11-21T09:00:00.000Z', pathOf: pathFrom(folder), commands: null, jobs },
    {
      outlineSound: async (path) => {
        const peaks = Uint8Array.from([path.includes('es-') ? 100 : 200]);
        return { durationMs: 3000, peaks, loudness: silence };
      },
      readSubtitleFile: async () => [],
      readSoftSubtitles: async () => parseSrt(srt),
    },
  );
}

/** For tests that change nothing in it. */
let still: Page;

/** The text or label of the element that has the focus. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement;
    const label = element?.getAttribute('aria-label') ?? element?.closest('label')?.textContent;
    return label ?? element?.querySelector('.name')?.textContent ?? element?.textContent ?? '';
  });

/** Presses the keys one after the other; each moves the focus to the next of `names`. */
async function pressAll(page: Page, keys: readonly string[], names: readonly string[]): Promise<void> {
  for (const [at, key] of keys.entries()) {
    await page.keyboard.press(key);
    await expect.poll(() => focused(page), { message: `after key ${at + 1}, ${key}` }).toBe(names[at]);
  }
}

interface Told {
  readonly role: string;
  readonly name: string;
}

/** Roles and names in the accessibility tree of Chromium, in reading order. */
async function readTree(page: Page): Promise<Told[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  return nodes
    .filter(({ ignored }) => !ignored)
    .map(({ role, name }) => ({ role: String(role?.value), name: String(name?.value ?? '') }));
}

describe.skipIf(CHROMIUM === null)('the page without a mouse', () => {
  const report = useReport(makeFacts);
  beforeAll(async () => {
    still = await report.keepOpen();
  });

  it('shows the first video immediately, except on a phone, and leaves the focus at the top', async () => {
    await expect.poll(() => still.locator('article h2').textContent()).toBe('a.mp4');
    await expect.poll(() => still.locator('.entries [aria-current]').count()).toBe(1);
    await expect.poll(() => still.evaluate(() => document.activeElement === document.body)).toBe(true);
    const { page: phone } = await report.open(PHONE);
    await expect.poll(() => phone.locator('article').count()).toBe(0);
    await expect.poll(() => phone.locator('.entries').isVisible()).toBe(true);
  });

  it('is reached with Tab: the list is one stop, and of the lines one with its buttons', async () => {
    // None of the files can be played here, so each player offers its file.
    await still.waitForFunction(
      () => document.querySelectorAll('.player .notice:not([hidden])').length === 2,
    );
    const stops = [
      ...['Keys', 'Light / dark', 'Print', 'Search names, errors, ids and subtitles', 'All 3', 'Order'],
      ...[
        'a.mp4',
        'Open the file',
        'Open the file',
        'Play',
        'Position',
        'Speed',
        'Localized',
        'Go to 0:00.0',
      ],
      ...['Play source from 0:00.0', 'Play dub from 0:00.0', 'a.mp4', 'es-a.mp4'],
    ];
    await pressAll(still, Array(stops.length).fill('Tab'), stops);
  });

  it('is navigated with arrow keys: through the list, the lines and the tracks', async () => {
    const { page } = await report.open();
    await page.locator('.entries a').first().focus();
    const keys = ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp', 'End', 'Home', 'ArrowDown'];
    await pressAll(page, keys, [LONG, 'c.mp4', 'c.mp4', LONG, 'c.mp4', 'a.mp4', LONG]);
    await page.keyboard.press('Enter');
    await page.waitForFunction((name) => document.activeElement?.textContent === name, LONG);
    await expect.poll(() => page.locator('article h2').textContent()).toBe(LONG);
    await page.keyboard.press('Escape');
    await page.waitForSelector('article', { state: 'detached' });
    await expect.poll(() => focused(page)).toBe(LONG);

    await page.keyboard.press('Enter');
    await page.locator('.lines button').first().focus();
    await pressAll(page, ['ArrowDown', 'ArrowDown'], ['Go to 0:01.0', 'Go to 0:02.0']);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.lines [aria-current]').textContent()).toContain('last');
    await page.locator('input[name=heard]').first().focus();
    await pressAll(page, ['ArrowDown'], ['Localized']);
  });

  it('describes each part to a screen reader, and the whole of a long name', async () => {
    const tree = await readTree(still);
    for (const part of [
      ...['banner', 'main'].map((role) => ({ role, name: '' })),
      { role: 'navigation', name: 'Videos' },
      { role: 'search', name: '' },
      { role: 'searchbox', name: 'Search names, errors, ids and subtitles' },
      { role: 'radio', name: 'All 3' },
      { role: 'combobox', name: 'Order' },
      { role: 'status', name: '' },
      { role: 'region', name: 'Video' },
      { role: 'article', name: 'a.mp4' },
      { role: 'heading', name: 'a.mp4' },
      { role: 'slider', name: 'Position' },
      { role: 'group', name: 'Listen to' },
      { role: 'radio', name: 'Localized' },
      { role: 'list', name: 'Subtitle lines' },
      { role: 'button', name: 'Go to 0:00.0' },
    ]) {
      expect(tree).toContainEqual(part);
    }
    // The mark before the state is for the eye.
    const rows = tree.filter(({ role, name }) => role === 'link' && name.includes('Done'));
    expect(rows).toHaveLength(3);
    expect(rows[1]?.name).toContain(LONG);
    expect(rows[1]?.name).not.toContain('✓');
    const isNamed = ({ role, name }: Told) =>
      name !== '' ||
      !['button', 'link', 'radio', 'combobox', 'slider', 'searchbox', 'heading'].includes(role);
    expect(tree.filter((part) => !isNamed(part))).toEqual([]);
  });

  it('shows the end of a long name if there is no space for all of it', async () => {
    const row = still.locator('.entries .name').nth(1);
    const [start, end] = [row.locator('.start'), row.locator('.end')];
    await expect.poll(() => start.evaluate((node) => node.scrollWidth > node.clientWidth)).toBe(true);
    await expect.poll(() => end.evaluate((node) => node.scrollWidth <= node.clientWidth)).toBe(true);
    await expect.poll(() => end.textContent()).toBe('lecture 07.mp4');
    await expect.poll(() => row.getAttribute('title')).toBe(LONG);
  });

  it('renders the markup of subtitles, and nothing else in them', async () => {
    const lines = still.locator('.lines .text');
    await expect
      .poll(() => lines.allTextContents())
      .toEqual(['one two', 'bold <img src=x onerror=alert(1)>', 'last']);
    await expect.poll(() => lines.locator('i').allTextContents()).toEqual(['one']);
    await expect.poll(() => lines.locator('b').allTextContents()).toEqual(['bold']);
    const colored = lines.locator('.colored');
    await expect
      .poll(() => colored.evaluate((node) => getComputedStyle(node).color))
      .toBe('rgb(255, 255, 0)');
    await expect.poll(() => still.locator('img').count()).toBe(0);
    await expect.poll(() => still.locator('.caption').nth(1).locator('i').textContent()).toBe('one');
    await still.keyboard.press('/');
    await still.keyboard.type('one two');
    await expect.poll(() => still.locator('.count').textContent()).toBe('3 listed');
  });

  it('draws all tracks of a video at one scale', async () => {
    const shareOfLocalized = () =>
      still.locator('.lane path').evaluateAll((paths) => {
        const [original = 0, localized = 0] = paths.map((path) => path.getBoundingClientRect().height);
        return localized / original;
      });
    await expect.poll(shareOfLocalized).toBeCloseTo(0.5, 2);
  });
});
