/** Languages of a job command, which are checked before anything is sent. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SAMPLE } from '../../engines/workspace.ts';
import { createSmallEngines, videoOf } from '../../service/harness/small-engines.ts';
import { startVloc, type VlocScene } from '../support/run-vloc.ts';

const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhello\n';

interface Scene extends VlocScene {
  readonly requests: () => number;
}

async function withSubtitle(): Promise<Scene> {
  let requests = 0;
  const vloc = await startVloc({
    onRequest: () => {
      requests += 1;
    },
  });
  await writeFile(join(vloc.folder, 'a.srt'), SRT);
  return { ...vloc, requests: () => requests };
}

describe('an unknown language', () => {
  it.each([
    [['--to', 'español'], '--to: not a BCP 47 language tag: español; did you mean es (Spanish)?'],
    [['--to', 'es', '--from', 'x-ours'], '--from: a tag for private use: x-ours; write a tag such as es or'],
  ])('in %j is refused as what it is, and nothing is sent', async (words, problem) => {
    const vloc = await withSubtitle();
    const { code, stderr } = await vloc.run(['translate', 'a.srt', ...words]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
    expect(vloc.requests()).toBe(0);
  });

  it('is refused in a localization in stages', async () => {
    const vloc = await withSubtitle();
    const words = ['localize', SAMPLE, '--to', 'spanish', '--stop-after', 'recognize'];
    const { code, stderr } = await vloc.run(words);
    expect([code, stderr]).toEqual([2, expect.stringContaining('did you mean es (Spanish)?')]);
    expect(vloc.requests()).toBe(0);
  });

  it('in a sheet or in vloc.config.json is refused as well', async () => {
    const vloc = await withSubtitle();
    await writeFile(join(vloc.folder, 'list.csv'), 'file,to\na.srt,es spansh\n');
    const sheet = await vloc.run(['translate', '--sheet', 'list.csv']);
    expect([sheet.code, sheet.stderr]).toEqual([
      2,
      expect.stringContaining(
        'row 1 of the sheet, --to: unknown language: spansh; did you mean es (Spanish)?',
      ),
    ]);
    await writeFile(join(vloc.folder, 'vloc.config.json'), '{ "defaults": { "from": "englsh" } }');
    const configured = await vloc.run(['translate', 'a.srt', '--to', 'es']);
    expect([configured.code, configured.stderr]).toEqual([
      2,
      expect.stringContaining('did you mean en (English)?'),
    ]);
    expect(vloc.requests()).toBe(0);
  });

  it('is sent with --set', async () => {
    const vloc = await withSubtitle();
    const words = ['--from', 'en', '--to', 'zzz', '--set', 'target_language=zzz', '--out', 'out'];
    const { stderr } = await vloc.run(['translate', 'a.srt', ...words]);
    expect(stderr).not.toContain('To send it anyway');
    expect(vloc.requests()).toBeGreaterThan(0);
  });
});

it('a locale such as fr_FR counts as the tag fr-FR', async () => {
  const vloc = await withSubtitle();
  const { code, stdout } = await vloc.run([
    'translate',
    'a.srt',
    '--from',
    'en_US',
    '--to',
    'fr_FR',
    '--dry-run',
    '-o',
    'json',
  ]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).items).toMatchObject([{ target_language: 'fr-FR' }]);
});

it('a result whose language nobody knows has no tag, or that of an unknown language beside a file of the user', async () => {
  const small = createSmallEngines();
  const lines = [{ index: 1, start_ms: 0, end_ms: 1000, text: 'hello' }];
  const subtitle_recognition = async () => ({ subtitle: { language: 'und', lines } });
  const vloc = await startVloc({ engines: { ...small, run: { ...small.run, subtitle_recognition } } });
  const path = (name: string) => join(vloc.folder, name);
  for (const name of ['talk.mp4', 'other.mp4']) await writeFile(path(name), videoOf(1));
  await writeFile(path('talk.srt'), SRT);
  // The files of the service, and those that are written here.
  for (const format of ['srt', 'vtt']) {
    const words = ['recognize', 'talk.mp4', 'other.mp4', '--out', format, '--subtitle-format', format];
    const taken = path(`${format}/talk.${format}`);
    await mkdir(path(format));
    await writeFile(taken, 'mine');
    const first = await vloc.run([...words, '-o', 'json']);
    expect(first.code, first.stderr).toBe(0);
    const files = JSON.parse(first.stdout).data.map(
      (row: { files: { path: string }[] }) => row.files[0]?.path,
    );
    expect(files).toEqual([path(`${format}/talk.und.${format}`), path(`${format}/other.${format}`)]);
    expect(await readFile(taken, 'utf8')).toBe('mine');
  }
  const again = await vloc.run(['recognize', 'talk.mp4', 'other.mp4', '--out', 'srt']);
  expect([again.code, again.stderr], again.stderr).toEqual([0, expect.stringContaining('Nothing to do')]);
});

it('the tag of an unknown language that is asked for is in the name of the result, which is not that of the input', async () => {
  const vloc = await withSubtitle();
  const words = ['translate', 'a.srt', '--from', 'en', '--to', 'und', '--set', 'target_language=und'];
  const { code, stdout, stderr } = await vloc.run([...words, '--dry-run', '-o', 'json']);
  expect([code, JSON.parse(stdout).items[0].results], stderr).toEqual([0, [join(vloc.folder, 'a.und.srt')]]);
});
