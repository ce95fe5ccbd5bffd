import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startVloc, type VlocScene } from '../support/run-vloc.ts';

const VTT = 'WEBVTT\n\n00:00.000 --> 00:01.000\n<v Ana>good &amp; early\n';
const ASS =
  '[Script Info]\n\n[Events]\nDialogue: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,{\\b1}good\\Nmorning\n';
const TO_SPANISH = ['--from', 'en', '--to', 'es'];

const countJobs = async ({ caller }: VlocScene): Promise<number> =>
  (await caller.get('/v1/subtitle-translations?limit=50')).json.data.length;

describe('subtitles of other formats', () => {
  it.each([
    ['talk.en.vtt', VTT, 'GOOD & EARLY'],
    ['talk.en.ass', ASS, 'GOOD\nMORNING'],
  ])('are inputs: %s', async (name, text, expected) => {
    const vloc = await startVloc();
    await writeFile(join(vloc.folder, name), text);
    const { code, stderr } = await vloc.run(['translate', name, ...TO_SPANISH]);
    expect(code, stderr).toBe(0);
    expect(await readFile(join(vloc.folder, 'talk.es.srt'), 'utf8')).toContain(expected);
    expect((await vloc.run(['dub', name, '--to', 'en'])).code).toBe(0);
  });

  it('are read from stdin too', async () => {
    const vloc = await startVloc();
    const { code, stderr } = await vloc.run(['translate', '-', ...TO_SPANISH], { stdin: ASS });
    expect(code, stderr).toBe(0);
    expect(await readFile(join(vloc.folder, 'stdin.es.srt'), 'utf8')).toContain('GOOD');
  });

  it.each([
    ['no header\n', 'talk.vtt: not usable as subtitles, line 1: a WebVTT file begins with WEBVTT'],
    ['', 'talk.vtt: the file is empty'],
  ])('that are broken are refused before anything is sent: %j', async (text, problem) => {
    const vloc = await startVloc();
    await writeFile(join(vloc.folder, 'talk.vtt'), text);
    const { code, stderr } = await vloc.run(['translate', 'talk.vtt', ...TO_SPANISH]);
    expect(code).toBe(2);
    expect(stderr).toContain(problem);
    expect(await countJobs(vloc)).toBe(0);
  });
});

describe('--subtitle-format', () => {
  it('writes the results in that format, records them and pays once', async () => {
    const vloc = await startVloc();
    await writeFile(join(vloc.folder, 'talk.vtt'), VTT);
    const words = ['translate', 'talk.vtt', ...TO_SPANISH, '--subtitle-format', 'vtt', '-o', 'json'];
    const first = await vloc.run(words);
    expect(first.code, first.stderr).toBe(0);
    const path = join(vloc.folder, 'talk.es.vtt');
    const written = await readFile(path);
    expect(written.toString()).toMatch(/^WEBVTT\n/);
    expect(written.toString()).toContain('GOOD &amp; EARLY');
    expect(JSON.parse(first.stdout).data[0].files).toMatchObject([{ path, bytes: written.length }]);
    const again = await vloc.run(words);
    expect(again.code, again.stderr).toBe(0);
    expect(JSON.parse(again.stdout).data[0].files).toMatchObject([
      { path, bytes: written.length, skipped: true },
    ]);
    expect(await countJobs(vloc)).toBe(1);
  });

  it('does not replace a foreign file', async () => {
    const vloc = await startVloc();
    await writeFile(join(vloc.folder, 'talk.srt'), '1\n00:00:00,000 --> 00:00:01,000\nhello\n');
    await writeFile(join(vloc.folder, 'talk.es.ass'), 'mine');
    const { code } = await vloc.run(['translate', 'talk.srt', ...TO_SPANISH, '--subtitle-format', 'ass']);
    expect(code).toBe(2);
    expect(await readFile(join(vloc.folder, 'talk.es.ass'), 'utf8')).toBe('mine');
    expect(await countJobs(vloc)).toBe(0);
  });
});
