import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startVloc, type VlocScene } from '../support/run-vloc.ts';

const VTT = 'WEBVTT\n\n00:00.000 --> 00:01.000\n<v Ana>good &amp; early\n';
const ASS =
  '[Script Info]\n\n[Events]\nDialogue: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,{\\b1}good\\Nmorning\n';
const CASES = new URL('../../fixtures/cases/', import.meta.url);
const TO_SPANISH = ['--from', 'en', '--to', 'es'];

const countJobs = async ({ caller }: VlocScene): Promise<number> =>
  (await caller.get('/v1/subtitle-translations?limit=50')).json.data.length;

/** The scene's engine writes its translation in capitals. */
async function translateCase(vloc: VlocScene, name: string, ...options: string[]): Promise<string> {
  await writeFile(join(vloc.folder, name), await readFile(new URL(name, CASES)));
  const words = ['translate', name, ...TO_SPANISH, ...options, '-o', 'json'];
  const { code, stdout, stderr } = await vloc.run(words);
  expect(code, stderr).toBe(0);
  return readFile(JSON.parse(stdout).data[0].files[0].path, 'utf8');
}

const sentLines = async ({ caller }: VlocScene): Promise<unknown> =>
  (await caller.get('/v1/credit-transactions')).json.data[0].quantity;

/** The text of the case with its words replaced. */
async function caseWith(name: string, words: Readonly<Record<string, string>>): Promise<string> {
  const text = await readFile(new URL(name, CASES), 'utf8');
  return Object.entries(words).reduce((all, [from, to]) => all.replace(from, to), text);
}

describe('a translation has the format of its source, and everything but the words stays', () => {
  it('of a file of WebVTT, of which only the words are sent', async () => {
    const vloc = await startVloc();
    expect(await translateCase(vloc, 'settings.en.vtt')).toBe(
      await caseWith('settings.en.vtt', {
        '<i>Good</i> morning.': '<i>GOOD</i> MORNING.',
        'Look at the &quot;sign&quot;&hellip;': 'LOOK AT THE "SIGN"…',
      }),
    );
    expect(await sentLines(vloc)).toBe(2);
    // The same command pays nothing again, with the format or without it.
    await translateCase(vloc, 'settings.en.vtt', '--subtitle-format', 'vtt');
    expect(await countJobs(vloc)).toBe(1);
  });

  it('from stdin too, with the byte order mark and the line breaks of Windows', async () => {
    const vloc = await startVloc();
    const text = `\uFEFF${ASS.replaceAll('\n', '\r\n')}`;
    const { code, stderr } = await vloc.run(['translate', '-', ...TO_SPANISH], { stdin: text });
    expect(code, stderr).toBe(0);
    expect(await readFile(join(vloc.folder, 'stdin.es.ass'), 'utf8')).toBe(
      text.replace('good\\Nmorning', 'GOOD\\NMORNING'),
    );
  });

  it('and rolling captions are translated once, which a note says', async () => {
    const vloc = await startVloc();
    await writeFile(join(vloc.folder, 'talk.vtt'), await readFile(new URL('rolling.en.vtt', CASES)));
    const { code, stderr } = await vloc.run(['translate', 'talk.vtt', ...TO_SPANISH]);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('talk.vtt: they are rolling captions, so each of their 2 rows is taken once');
    expect(await readFile(join(vloc.folder, 'talk.es.vtt'), 'utf8')).toContain(
      '00:00:03.010 --> 00:00:05.500\nAND WE GO IN\n',
    );
    expect(await sentLines(vloc)).toBe(2);
  });

  it('and lines from memory have it too, with what a person changed', async () => {
    const vloc = await startVloc();
    await translateCase(vloc, 'settings.en.vtt');
    const path = join(vloc.folder, 'settings.es.vtt');
    await writeFile(path, (await readFile(path, 'utf8')).replace('LOOK AT', 'MIRA'));
    const source = join(vloc.folder, 'settings.en.vtt');
    await writeFile(source, (await readFile(source, 'utf8')).replace('morning', 'evening'));
    const { code, stderr } = await vloc.run(['translate', 'settings.en.vtt', ...TO_SPANISH, '--clobber']);
    expect(code, stderr).toBe(0);
    expect(await sentLines(vloc)).toBe(1);
    expect(await readFile(path, 'utf8')).toBe(
      await caseWith('settings.en.vtt', {
        '<i>Good</i> morning.': '<i>GOOD</i> EVENING.',
        'Look at the &quot;sign&quot;&hellip;': 'MIRA THE "SIGN"…',
      }),
    );
  });

  it('and `jobs wait` writes it so too, which the same command finds', async () => {
    const vloc = await startVloc();
    await writeFile(join(vloc.folder, 'sign.en.ass'), await readFile(new URL('sign.en.ass', CASES)));
    const words = ['translate', 'sign.en.ass', ...TO_SPANISH, '-o', 'id'];
    const id = (await vloc.run([...words, '--detach'])).stdout.trim();
    expect((await vloc.run(['jobs', 'wait', id])).code).toBe(0);
    expect(await readFile(join(vloc.folder, 'sign.es.ass'), 'utf8')).toContain('{\\pos(320,40)}EXIT');
    const { code, stderr } = await vloc.run(words);
    expect(code, stderr).toBe(0);
  });
});

it.each([
  ['talk.en.vtt', VTT, 'mine.srt', '1\n00:00:00,000 --> 00:00:01,000\nGOOD & EARLY\n\n'],
  [
    'talk.en.srt',
    '1\n00:00:00,000 --> 00:00:01,000\nhi\n',
    '{stem}.VTT',
    'WEBVTT\n\n1\n00:00:00.000 --> 00:00:01.000\nHI\n\n',
  ],
])('%s becomes the format that --name ends with', async (name, text, own, written) => {
  const vloc = await startVloc();
  await writeFile(join(vloc.folder, name), text);
  const { code, stderr } = await vloc.run(['translate', name, ...TO_SPANISH, '--name', own]);
  expect(code, stderr).toBe(0);
  expect(await readFile(join(vloc.folder, own.replace('{stem}', 'talk')), 'utf8')).toBe(written);
});
