/** The page in a real browser, opened from disk as its readers open it. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import config, { joinStyles } from '../../../../src/batch/page/rolldown.config.js';
import { type PageParts, writePage } from '../../../../src/batch/report/html.ts';
import { buildReport, pathFrom } from '../../../../src/batch/report/page-build.ts';
import type { ReportFacts } from '../../../../src/batch/report/page-facts.ts';
import type { PageJob } from '../../../../src/batch/report/page-jobs.ts';
import { outlineSound } from '../../../../src/media/audio/peaks.ts';
import { readSoftSubtitles, readSubtitleFile } from '../../../../src/media/subtitles/read-subtitle.ts';
import { programs } from '../../../engines/workspace.ts';
import { CHROMIUM, launchBrowser } from './launch.ts';

/** Script and style from the sources as they are now, not from a build of earlier. */
async function bundlePage(): Promise<PageParts> {
  const build = await rolldown(config);
  const { output } = await build.generate([config.output].flat()[0]);
  await build.close();
  return { script: output[0].code, style: joinStyles() };
}

/** The document of a folder of real media. */
export function readFolder(folder: string, jobs: readonly PageJob[]): Promise<ReportFacts> {
  const run = { signal: new AbortController().signal, folder };
  return buildReport(
    {
      ...{ title: 'lessons', madeAt: '2026-11-21T09:00:00.000Z', pathOf: pathFrom(folder), jobs },
      commands: { afterEdit: () => 'vloc localize talk.mp4', runIn: dirname(folder) },
    },
    {
      outlineSound: (path) => outlineSound(programs, path, run),
      readSubtitleFile: async (path) => readSubtitleFile(readFileSync(path), path),
      readSoftSubtitles: (path) => readSoftSubtitles(programs, path, run),
    },
  );
}

/** A busy machine takes its time; still less than the limit of a test, which would not say what is waited for. */
const PATIENCE_MS = 170_000;

interface OpenPage {
  readonly page: Page;
  /** Addresses of everything that the page has asked for. */
  readonly requests: readonly string[];
  /** Errors of the script, and what the policy of the page has refused. */
  readonly complaints: readonly string[];
}

export interface View {
  readonly size?: { readonly width: number; readonly height: number };
  readonly colorScheme?: 'light' | 'dark';
}

/** A report in a folder of its own, and a browser that shows it, for all tests of a `describe`. */
export interface Report {
  readonly folder: string;
  readonly facts: ReportFacts;
  /** Opens the page, or that of other facts; it closes with the test. */
  open(view?: View, facts?: ReportFacts): Promise<OpenPage>;
  /** Opens the page until all tests are done. */
  keepOpen(): Promise<Page>;
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Run in the page: which rule is broken, and where. */
const FIND_BARRIERS = `axe.run().then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target)))`;

export function useReport(makeFacts: (folder: string) => Promise<ReportFacts>): Report {
  let browser: Browser;
  let folder: string;
  let facts: ReportFacts;
  let parts: PageParts;
  // Without a browser all tests are skipped.
  if (CHROMIUM !== null) {
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'vloc-test-'));
      [facts, parts, browser] = await Promise.all([makeFacts(folder), bundlePage(), launchBrowser()]);
    });
    afterAll(async () => {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    });
  }
  return {
    get folder() {
      return folder;
    },
    get facts() {
      return facts;
    },
    async open(view, shown = facts) {
      const opened = await openPage(browser, folder, { facts: shown, parts }, view);
      onTestFinished(() => opened.page.close());
      return opened;
    },
    keepOpen: async () => (await openPage(browser, folder, { facts, parts })).page,
  };
}

/** Neither axe finds a barrier, nor does the page scroll sideways. */
export async function expectNoBarriers(page: Page): Promise<void> {
  await page.evaluate(AXE);
  expect(await page.evaluate(FIND_BARRIERS)).toEqual([]);
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
}

/** Writes the page into the folder and opens it. */
async function openPage(
  browser: Browser,
  folder: string,
  task: { facts: ReportFacts; parts: PageParts },
  { size = { width: 1280, height: 900 }, colorScheme = 'light' }: View = {},
): Promise<OpenPage> {
  const file = join(folder, 'report.html');
  writeFileSync(file, writePage(task.facts, task.parts));
  const page = await browser.newPage({ viewport: size, colorScheme });
  page.setDefaultTimeout(PATIENCE_MS);
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => complaints.push(message.text()));
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector('.entries');
  return { page, requests, complaints };
}
