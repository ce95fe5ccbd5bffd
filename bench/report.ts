/** The HTML report of 500 localized videos in Chromium: how long it is busy while it opens, searches and shows a video. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { readPageParts, writePage } from '../src/batch/report/html.ts';
import { buildReport, pathFrom } from '../src/batch/report/page-build.ts';
import { CHROMIUM, launchBrowser } from '../test/batch/page/dom/launch.ts';
import { pageJob } from '../test/batch/report/page-job.ts';
import { ANY_TIME_MS, type Figure } from './figure.ts';
import { median } from './measure.ts';

const VIDEOS = 500;
const SHORT_VIDEOS = 20;
/** Ten minutes with a line every two seconds. */
const LINES = 300;
const SECONDS = 600;
/** The peaks that the outline of a sound has. */
const PEAKS = 1_000;
const ROUNDS = 5;

/** Milliseconds. */
interface Round {
  /** From the start of the navigation until the list is there and the first video is open. */
  readonly open: number;
  /** The longest time without a reaction to keys while it opens. */
  readonly openBlocked: number;
  /** From the first key of a search until the list shows the result, and the longest time without a reaction. */
  readonly search: number;
  readonly searchBlocked: number;
  /** From a click on a video until it is shown. */
  readonly show: number;
}

export async function measureReport(isShort: boolean): Promise<readonly Figure[]> {
  const [videos, roundCount] = isShort ? [SHORT_VIDEOS, 1] : [VIDEOS, ROUNDS];
  if (CHROMIUM === null) throw new Error('this needs Chromium: apt-get install chromium');
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  const browser = await launchBrowser();
  try {
    const file = join(folder, 'report.html');
    const text = await makePage(folder, videos);
    writeFileSync(file, text);
    const rounds: Round[] = [];
    for (let round = 0; round < roundCount; round += 1) {
      // The policy of the page forbids code from text, which is what measures it.
      const page = await browser.newPage({ bypassCSP: true });
      rounds.push(await measureRound(page, pathToFileURL(file).href, videos));
      await page.close();
    }
    const figure = (name: string, of: keyof Round, atMost: number): Figure => ({
      name: `report of ${videos} videos: ${name}`,
      value: median(rounds.map((round) => round[of])),
      unit: 'ms',
      limit: { atMost },
      // The browser reports only tasks of more than 50 ms.
      plausible: of.endsWith('Blocked') ? [0, 600_000] : ANY_TIME_MS,
    });
    return [
      {
        name: `report of ${videos} videos: size`,
        value: Buffer.byteLength(text) / 1024 ** 2,
        unit: 'MiB',
        plausible: [0.1, 1000],
      },
      figure('until list and first video are shown', 'open', 3000),
      figure('longest task meanwhile', 'openBlocked', 1000),
      figure('first search in all subtitles', 'search', 2000),
      figure('longest task meanwhile, while searching', 'searchBlocked', 500),
      figure('until another video is shown', 'show', 1500),
    ];
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function makePage(folder: string, videos: number): Promise<string> {
  const peaks = Uint8Array.from({ length: PEAKS }, (_, at) => (at * 37) % 256);
  const decibels = new Int8Array((SECONDS * 1000) / 20).fill(-20);
  const lines = Array.from({ length: LINES }, (_, at) => ({
    index: at + 1,
    start_ms: at * 2000,
    end_ms: at * 2000 + 1800,
    text: `This is the text of line number ${at + 1} of a talk`,
  }));
  const jobs = Array.from({ length: videos }, (_, at) => {
    const input = join(folder, `lesson ${at + 1}.mp4`);
    const result = join(folder, `lesson ${at + 1}.es.mp4`);
    const own = { input_name: `lesson ${at + 1}.mp4`, input_path: input };
    for (const path of [input, result]) writeFileSync(path, '');
    const original = join(folder, `lesson ${at + 1}.en.srt`);
    writeFileSync(original, '');
    return [
      pageJob({ ...own, target_language: 'es', files: [result] }),
      pageJob({ ...own, kind: 'subtitle_recognition', files: [original] }),
    ];
  }).flat();
  const facts = await buildReport(
    { title: 'lessons', madeAt: '2026-11-21T09:00:00.000Z', pathOf: pathFrom(folder), commands: null, jobs },
    {
      outlineSound: async () => ({
        durationMs: SECONDS * 1000,
        peaks,
        loudness: { stepMs: 20, decibels },
      }),
      readSubtitleFile: async () => lines,
      readSoftSubtitles: async () => lines,
    },
  );
  return writePage(facts, await readPageParts());
}

/** Run in the page before its script: collects tasks of more than 50 ms, which the browser reports. */
const WATCH_TASKS = `
  globalThis.tasks = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) globalThis.tasks.push(duration);
  }).observe({ type: 'longtask', buffered: true });
`;
/** Run in the page: the longest of these tasks since the last call. Tasks are reported after a while. */
const TAKE_LONGEST = `new Promise((resolve) => setTimeout(resolve, 500)).then(() => {
  const longest = Math.max(0, ...globalThis.tasks);
  globalThis.tasks = [];
  return longest;
})`;

async function measureRound(page: Page, address: string, videos: number): Promise<Round> {
  await page.addInitScript(WATCH_TASKS);
  await page.goto(address, { waitUntil: 'commit' });
  const open = await untilPainted(page, `document.querySelector('article h2') !== null`);
  const openBlocked = Number(await page.evaluate(TAKE_LONGEST));
  const asked = Number(await page.evaluate('performance.now()'));
  await page.locator('input[type=search]').fill('number 300');
  const found = await untilPainted(
    page,
    `document.querySelector('.count').textContent.startsWith('${videos}')`,
  );
  const searchBlocked = Number(await page.evaluate(TAKE_LONGEST));
  const clicked = Number(await page.evaluate('performance.now()'));
  await page.locator('.entries a').nth(7).click();
  const shown = await untilPainted(
    page,
    `document.querySelector('article h2').textContent === 'lesson 8.mp4'`,
  );
  return { open, openBlocked, search: found - asked, searchBlocked, show: shown - clicked };
}

/** When the condition holds and the page is painted, in milliseconds since the start of the navigation. */
async function untilPainted(page: Page, condition: string): Promise<number> {
  await page.waitForFunction(condition);
  return Number(
    await page.evaluate(
      'new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(performance.now()))))',
    ),
  );
}
