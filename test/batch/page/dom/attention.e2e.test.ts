/** What needs a person on the page: read, edited and saved in a real browser. */
import { readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { buildReport, pathFrom } from '../../../../src/batch/report/page-build.ts';
import type { ReportFacts } from '../../../../src/batch/report/page-facts.ts';
import { readSubtitleFile, scanText } from '../../../../src/media/subtitles/read-subtitle.ts';
import { pageJob } from '../../report/page-job.ts';
import { expectNoBarriers, useReport, type View } from './browser.ts';
import { CHROMIUM } from './launch.ts';

/** Line ends, mark and numbers as an editor on Windows left them; one text would run, were it not shown as text. */
const SRT =
  '\uFEFF7\r\n00:00:01,000 --> 00:00:02,000\r\nuno\r\n\r\n' +
  '9\r\n00:00:03,000 --> 00:00:04,000\r\n<img src=x onerror=alert(1)>\r\ndos\r\n\r\n\r\n' +
  '12\r\n00:00:05,000 --> 00:00:06,000\r\ntres';
const VTT = 'WEBVTT\n\n00:01.000 --> 00:02.000\nbonjour\n';
const COMMAND = "vloc localize 'my lessons' --to es,fr --out out --from-subtitles";

function makeFacts(folder: string): Promise<ReportFacts> {
  const write = (name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const spanish = write('talk.es.srt', SRT);
  const french = write('talk.fr.vtt', VTT);
  const placeOf = (
    file: string,
    language: string,
    number: number,
    codes: readonly ('NUMBER' | 'NAME' | 'FAST')[],
  ) => {
    const cue = scanText(readFileSync(file), file).cues[number - 1];
    if (cue === undefined) throw new Error('there is no such cue');
    const reasons = codes.map((code) => ({ code, detail: `because of ${code}` }));
    const { row, start_ms, text } = cue;
    const known = { item: `talk.mp4 → ${language}`, language, owner: { key: '', folder } };
    return { ...known, file, row, cue: number, start_ms, source: 'the <b>original</b>', text, reasons };
  };
  return buildReport(
    {
      ...{ title: 'lessons', madeAt: '2026-11-21T09:00:00.000Z', pathOf: pathFrom(folder) },
      commands: { afterEdit: () => COMMAND, runIn: folder },
      jobs: [
        pageJob({ kind: 'dubbing', target_language: 'es', input_path: spanish }),
        pageJob({ kind: 'dubbing', target_language: 'fr', input_path: french }),
      ],
      attention: [
        placeOf(spanish, 'es', 2, ['NUMBER', 'NAME']),
        placeOf(spanish, 'es', 3, ['FAST']),
        placeOf(french, 'fr', 1, ['NAME']),
      ],
    },
    {
      outlineSound: () => Promise.reject(new Error('there is no sound')),
      readSubtitleFile: async (path) => readSubtitleFile(readFileSync(path), path),
      readSoftSubtitles: async () => [],
    },
  );
}

const report = useReport(makeFacts);

/** @param hasPicker whether the browser can write files */
async function open(view: View = {}, hasPicker = false, facts?: ReportFacts) {
  const opened = await report.open(view, facts);
  await opened.page.evaluate((isKept) => {
    if (!isKept) Reflect.deleteProperty(window, 'showSaveFilePicker');
  }, hasPicker);
  return opened;
}

const field = (page: Page, cue: number) =>
  page.getByRole('textbox', { name: `Text of talk.es.srt, cue ${cue}` });

describe.skipIf(CHROMIUM === null)('what needs a person', () => {
  it('comes first, with file, cue, time and reasons, and names the file that it cannot edit', async () => {
    const { page, complaints } = await open();
    await expect.poll(() => page.locator('.attention h2').textContent()).toBe('Needs a person');
    await expect
      .poll(() => page.locator('.place h3').allTextContents())
      .toEqual([
        'talk.es.srt, cue 2 at 0:03.0',
        'talk.es.srt, cue 3 at 0:05.0',
        'talk.fr.vtt, cue 1 at 0:01.0',
      ]);
    await expect
      .poll(() => page.locator('.place').first().locator('.reasons li').allTextContents())
      .toEqual(['NUMBER because of NUMBER', 'NAME because of NAME']);
    await expect
      .poll(() => page.locator('.place').last().textContent())
      .toContain(`Edit talk.fr.vtt:3 in an editor.Then run in ${report.folder}: ${COMMAND}Copy`);
    await expect.poll(() => field(page, 2).inputValue()).toBe('<img src=x onerror=alert(1)>\ndos');
    await expect.poll(() => page.locator('.place img, .place b').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('has no command on a page of a package, whose readers do not run any', async () => {
    const { page } = await open({}, false, { ...report.facts, run_in: null });
    await expect.poll(() => page.locator('.place').count()).toBe(3);
    expect(await page.textContent('#page')).not.toMatch(/vloc (?!report)|run the command/);
  });

  it('is corrected with the keyboard alone: the saved file has the new text and is otherwise the same', async () => {
    const { page, requests, complaints } = await open();
    await page.keyboard.press('Tab');
    while ((await page.evaluate(() => document.activeElement?.tagName)) !== 'TEXTAREA')
      await page.keyboard.press('Tab');
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('dos y ?');
    await page.keyboard.press('Enter');
    await page.keyboard.type('medio');
    const save = page.getByRole('button', { name: 'Save talk.es.srt' });
    while (!(await save.evaluate((button) => button === document.activeElement)))
      await page.keyboard.press('Tab');
    const downloads = page.waitForEvent('download');
    await page.keyboard.press('Enter');
    const download = await downloads;
    expect(download.suggestedFilename()).toBe('talk.es.srt');
    expect(await readFile(await download.path(), 'utf8')).toBe(
      SRT.replace('<img src=x onerror=alert(1)>\r\ndos', 'dos y ?\r\nmedio'),
    );
    const status = page.getByRole('status').filter({ hasText: 'Downloaded' });
    await expect
      .poll(() => status.textContent())
      .toBe('Downloaded talk.es.srt with 1 changed line: put it in the place of talk.es.srt.');
    await expect
      .poll(() => page.locator('.changes .command').textContent())
      .toBe(`Then run in ${report.folder}: ${COMMAND}Copy`);
    expect(requests.filter((address) => !/^(file|blob):/.test(address))).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('is written where the user chooses if the browser can, with all changed cues of the file', async () => {
    const { page } = await open();
    // The dialog is that of the system; the rest is the interface of the browser.
    await page.evaluate(() => {
      const written: number[] = [];
      const stream = {
        write: async (bytes: Uint8Array) => void written.push(...bytes),
        close: async () => {},
      };
      Object.assign(window, {
        written,
        showSaveFilePicker: async ({ suggestedName }: { suggestedName: string }) => {
          if (suggestedName !== 'talk.es.srt') throw new Error('another name');
          return { createWritable: async () => stream };
        },
      });
    });
    await field(page, 2).fill('2');
    await field(page, 3).fill('3');
    await page.getByRole('button', { name: 'Save talk.es.srt' }).click();
    await expect
      .poll(() => page.locator('.saved').textContent())
      .toBe('Saved talk.es.srt with 2 changed lines.');
    const bytes = await page.evaluate(() => Reflect.get(window, 'written'));
    expect(Buffer.from(bytes).toString()).toBe(
      SRT.replace('<img src=x onerror=alert(1)>\r\ndos', '2').replace('tres', '3'),
    );
  });

  it('keeps what was typed while its video is watched, and leads there and back', async () => {
    const { page } = await open();
    await field(page, 2).fill('dos!');
    await page.getByRole('link', { name: 'Watch the video' }).first().click();
    await expect.poll(() => page.locator('article .tag').first().textContent()).toBe('es');
    await page.getByRole('link', { name: 'Needs a person 3' }).click();
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Needs a person');
    await expect.poll(() => field(page, 2).inputValue()).toBe('dos!');
  });

  it('cannot be saved without a text, and says why, without a barrier that axe finds', async () => {
    const { page } = await open({ size: { width: 390, height: 844 }, colorScheme: 'dark' });
    await page.getByRole('link', { name: 'Needs a person 3' }).waitFor();
    await page.evaluate(() => {
      location.hash = 'attention';
    });
    const save = page.getByRole('button', { name: 'Save talk.es.srt' });
    await field(page, 2).fill('');
    await expect.poll(() => page.getByRole('alert').first().textContent()).toContain('Write a text');
    await expect.poll(() => field(page, 2).getAttribute('aria-invalid')).toBe('true');
    await expect.poll(() => save.isDisabled()).toBe(true);
    await expectNoBarriers(page);
    await field(page, 2).fill('dos');
    await expect.poll(() => save.isEnabled()).toBe(true);
  });
});
