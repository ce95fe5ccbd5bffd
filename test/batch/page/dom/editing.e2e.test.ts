/** Any line of the page: heard, edited, taken back and saved in a real browser. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectNoBarriers, useReport, type View } from './browser.ts';
import { CHROMIUM } from './launch.ts';
import { makeFacts } from './sample-report.ts';

const PHONE: View = { size: { width: 390, height: 844 }, colorScheme: 'dark' };

const report = useReport(makeFacts);

/** Opens the video with its subtitles, in a browser that cannot write files. */
async function open(view: View = {}): Promise<Page> {
  const { page } = await report.open(view);
  await page.evaluate(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
  await page.locator('.entries a').nth(1).click();
  await page.locator('.lines').waitFor();
  return page;
}

const field = (page: Page, file: string, cue: number) =>
  page.getByRole('textbox', { name: `Text of ${file}, cue ${cue}` });
const counted = (page: Page) => page.locator('.changes [role=status]').first();

async function save(page: Page, file: string): Promise<string> {
  const downloads = page.waitForEvent('download');
  await page.getByRole('button', { name: `Save ${file}` }).click();
  return readFile(await (await downloads).path(), 'utf8');
}

const read = (name: string) => readFileSync(join(report.folder, name), 'utf8');

describe.skipIf(CHROMIUM === null)('any line of a video on the page', () => {
  it('has a field; changed lines are counted, taken back, saved file by file, and followed by one command', async () => {
    const page = await open();
    await expect.poll(() => page.locator('.lines textarea').count()).toBe(6);
    await expect.poll(() => page.locator('.changes').isHidden()).toBe(true);
    await field(page, 'talk.es.srt', 2).fill('dos más');
    await field(page, 'talk.es.srt', 3).fill('tres más');
    await field(page, 'talk.en.srt', 1).fill('one more');
    await expect.poll(() => counted(page).textContent()).toBe('3 changed lines, not saved');
    await page.getByRole('button', { name: 'Undo: Text of talk.es.srt, cue 3' }).click();
    await expect.poll(() => field(page, 'talk.es.srt', 3).inputValue()).toBe('tres.');
    await expect.poll(() => counted(page).textContent()).toBe('2 changed lines, not saved');
    expect(await save(page, 'talk.es.srt')).toBe(read('talk.es.srt').replace('dos.', 'dos más'));
    await expect.poll(() => page.locator('.changes .command').count()).toBe(0);
    expect(await save(page, 'talk.en.srt')).toBe(read('talk.en.srt').replace('one', 'one more'));
    await expect.poll(() => counted(page).textContent()).toBe('2 changed lines');
    const command = page.locator('.changes .command');
    await expect
      .poll(() => command.allTextContents())
      .toEqual([`Then run in ${dirname(report.folder)}: vloc localize talk.mp4Copy`]);
    await command.getByRole('button').click();
    await expect.poll(() => command.getByRole('button').textContent()).not.toBe('Copy');
    expect(await page.evaluate(() => getSelection()?.toString())).toBe('vloc localize talk.mp4');
  });

  it('keeps its new text while another video is open, also in its caption', async () => {
    const page = await open();
    await field(page, 'talk.es.srt', 1).fill('uno más');
    await page.locator('.time').first().click();
    await expect.poll(() => page.locator('.caption').allTextContents()).toEqual(['one', 'uno más']);
    await page.locator('.entries a').first().click();
    await expect.poll(() => page.locator('.lines').count()).toBe(0);
    await expect.poll(() => counted(page).textContent()).toBe('1 changed line, not saved');
    await page.locator('.entries a').nth(1).click();
    await expect.poll(() => field(page, 'talk.es.srt', 1).inputValue()).toBe('uno más');
    await page.getByRole('button', { name: 'Undo: Text of talk.es.srt, cue 1' }).click();
    await expect.poll(() => page.locator('.changes').isHidden()).toBe(true);
  });

  it('is played alone, as its source or as its dub, of which the dub is heard first', async () => {
    const page = await open();
    const muted = () => page.$$eval('video', (videos) => videos.map((video) => video.muted));
    await page.waitForFunction(() =>
      [...document.querySelectorAll('video')].every((video) => video.readyState >= 2),
    );
    await expect.poll(() => page.locator('.wave label:has(:checked)').textContent()).toBe('Localized');
    expect(await muted()).toEqual([true, false]);
    for (const [name, silent] of [
      ['source', [false, true]],
      ['dub', [true, false]],
    ] as const) {
      await page.getByRole('button', { name: `Play ${name} from 0:03.0` }).click();
      await expect.poll(muted).toEqual(silent);
      await expect.poll(() => page.locator('.play').textContent()).toBe('Pause');
      await expect.poll(() => page.locator('.play').textContent()).toBe('Play');
      // That which is heard: the other follows, later on a busy machine.
      const time = await page.$$eval('video', (videos) => videos.find((video) => !video.muted)?.currentTime);
      expect(time).toBeGreaterThanOrEqual(4.4);
      expect(time).toBeLessThan(6);
    }
  });

  it('is reached with the keyboard: Tab leads through one line, arrows to the next', async () => {
    const page = await open();
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    await page.locator('.time').first().focus();
    await page.keyboard.press('ArrowDown');
    await expect.poll(focused).toBe('Go to 0:03.0');
    for (const name of [
      'Play source from 0:03.0',
      'Play dub from 0:03.0',
      'Text of talk.en.srt, cue 2',
      'Text of talk.es.srt, cue 2',
    ]) {
      await page.keyboard.press('Tab');
      await expect.poll(focused).toBe(name);
    }
    await page.keyboard.type('s k ');
    await expect.poll(() => field(page, 'talk.es.srt', 2).inputValue()).toContain('s k ');
    await page.keyboard.press('Tab');
    await expect.poll(focused).toBe('Undo: Text of talk.es.srt, cue 2');
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe('Text of talk.es.srt, cue 2');
  });

  it('has no barrier that axe finds, nor scrolls sideways, on a phone', async () => {
    const page = await open(PHONE);
    await field(page, 'talk.es.srt', 1).fill('');
    await expect.poll(() => page.getByRole('alert').filter({ hasText: 'Write a text' }).count()).toBe(1);
    await expectNoBarriers(page);
  });
});
