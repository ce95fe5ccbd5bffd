/** All that a run leaves for people has the rights that their umask leaves; what is its own is for its owner alone. */
import { statSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type MediaDesk, openMediaDesk } from '../../commands/jobs/desk.ts';
import { startStaging } from '../../commands/stages/staging.ts';

/** More lines than a service of the scene accepts in one request. */
const LINES = 6;
const SRT = Array.from(
  { length: LINES },
  (_, at) => `${at + 1}\n00:00:0${at},000 --> 00:00:0${at},500\nline ${at}\n`,
).join('\n');

const TRANSLATE = ['translate', 'book.srt', '--from', 'en', '--to', 'es', '--split'];

/** What makes the files, and their names. */
const MADE: readonly (readonly [what: string, commands: readonly string[][], files: readonly string[]])[] = [
  ['joined speech', [['dub', 'book.srt', '--to', 'es', '--split']], ['book.es.wav']],
  [
    'joined subtitles, and reports,',
    [
      TRANSLATE,
      ['batch', 'report', '.', '--format', 'json', '--out', 'new/report.json'],
      ['batch', 'report', '.', '--html', '--out', 'new/report.html'],
    ],
    ['book.es.srt', 'new/report.json', 'new/report.html'],
  ],
];

const rightsOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

function setUmask(mask: string): void {
  const before = process.umask(mask);
  onTestFinished(() => void process.umask(before));
}

async function openDesk(): Promise<MediaDesk> {
  const desk = await openMediaDesk();
  await writeFile(join(desk.folder, 'book.srt'), SRT);
  return desk;
}

/** Not the usual one, and not that of private files: neither of their rights can pass for what it allows. */
const [mask, file, folder] = ['027', '640', '750'] as const;

// Each runs ffmpeg several times, on machines that do other work too.
describe('under an unusual umask', { timeout: 300_000 }, () => {
  it.each(MADE)('%s have the permissions that it allows', async (_what, commands, files) => {
    const desk = await openDesk();
    setUmask(mask);
    for (const words of commands) {
      const { code, stderr } = await desk.vloc(words);
      expect(code, stderr).toBe(0);
    }
    const rights = Object.fromEntries(files.map((name) => [name, rightsOf(join(desk.folder, name))]));
    expect(rights).toEqual(Object.fromEntries(files.map((name) => [name, file])));
    if (files.some((name) => name.startsWith('new/')))
      expect(rightsOf(join(desk.folder, 'new'))).toBe(folder);
  });

  it('subtitles beside a video have the permissions that it allows', async () => {
    const vloc = await startStaging();
    setUmask(mask);
    const { code, stderr } = await vloc.run([
      'localize',
      'talk.mp4',
      '--to',
      'es',
      '--stop-after',
      'translate',
    ]);
    expect(code, stderr).toBe(0);
    const names = ['talk.en.srt', 'talk.es.srt'];
    expect(names.map((name) => rightsOf(vloc.path(name)))).toEqual(names.map(() => file));
  });

  it('the record, and what --out - keeps for the next run, are readable by their owner only', async () => {
    const desk = await openDesk();
    setUmask(mask);
    const { code, stderr } = await desk.vloc([...TRANSLATE, '--out', '-']);
    expect(code, stderr).toBe(0);
    const kept = join(desk.folder, 'state', 'stdout');
    const [name = ''] = await readdir(kept);
    const record = join(kept, name, '.vloc');
    expect([kept, join(kept, name), record].map(rightsOf)).toEqual(['700', '700', '700']);
    expect(rightsOf(join(record, 'records.db'))).toBe('600');
  });
});
