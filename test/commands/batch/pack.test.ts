import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { EntryDetail } from '../../../src/batch/report/page-facts.ts';
import { videoOf } from '../../service/harness/small-engines.ts';
import { startVloc } from '../support/run-vloc.ts';

/** The page is made from the build, which a checkout may not have. */
const IS_BUILT = existsSync(new URL('../../../dist/report-page.js', import.meta.url));

/** A batch with a video that only the service reads. */
async function startBatch() {
  const vloc = await startVloc();
  const path = (name: string) => join(vloc.folder, name);
  mkdirSync(path('lessons/week 1'), { recursive: true });
  writeFileSync(path('lessons/week 1/talk #1.mp4'), videoOf(1));
  const { code, stderr } = await vloc.run(['localize', 'lessons', '--to', 'es', '--out', 'out']);
  expect(code, stderr).toBe(0);
  return { ...vloc, path, read: (name: string) => readFileSync(path(name), 'utf8') };
}

/** A batch without a video. */
async function startDub() {
  const vloc = await startVloc();
  const path = (name: string) => join(vloc.folder, name);
  mkdirSync(path('lessons'));
  writeFileSync(path('lessons/talk.srt'), '1\n00:00:00,000 --> 00:00:01,000\nhello\n');
  const { code, stderr } = await vloc.run(['dub', 'lessons', '--to', 'es', '--out', 'out']);
  expect(code, stderr).toBe(0);
  return { ...vloc, path };
}

/** The paths of all files below a folder. */
function filesBelow(folder: string): readonly string[] {
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return all.filter((name) => statSync(join(folder, name)).isFile()).toSorted();
}

interface Page {
  readonly facts: { readonly run_in: string | null; readonly entries: readonly { readonly id: string }[] };
  readonly details: readonly EntryDetail[];
}

function readPage(text: string): Page {
  const block = (id: string) =>
    JSON.parse(new RegExp(`id="${id}">(.*?)</script>`, 's').exec(text)?.[1] ?? '');
  const facts: Page['facts'] = block('facts');
  return { facts, details: facts.entries.map(({ id }) => block(`detail-${id}`)) };
}

/** The files that the page links to, relative to it. */
function linksOf({ details }: Page): ReadonlySet<string> {
  const files = details.flatMap(({ tracks, subtitles }) => [...tracks, ...subtitles].map(({ file }) => file));
  return new Set(
    files.flatMap((file) => (file?.present === true ? [decodeURIComponent(file.href.slice(2))] : [])),
  );
}

describe.skipIf(!IS_BUILT)('vloc batch pack', () => {
  it('writes a ZIP file as planned, whose page links only to files in it, and which tells nothing of this machine and its service', async () => {
    const vloc = await startBatch();
    writeFileSync(vloc.path('lessons/notes.txt'), 'mine');
    const pack = async (...more: readonly string[]) => {
      const { code, stdout, stderr } = await vloc.run([
        ...['batch', 'pack', 'out', 'lessons.zip', '-o', 'json', ...more],
      ]);
      expect(code, stderr).toBe(0);
      return stdout;
    };
    const planned = await pack('--dry-run');
    expect(existsSync(vloc.path('lessons.zip'))).toBe(false);
    expect(await pack()).toBe(planned);
    execFileSync('python3', ['-m', 'zipfile', '-e', vloc.path('lessons.zip'), vloc.path('elsewhere')]);
    const files = filesBelow(vloc.path('elsewhere'));
    expect(files).toEqual(['originals/week 1/talk #1.mp4', 'report.html', 'results/week 1/talk #1.es.mp4']);
    const listed = JSON.parse(planned).data.map(({ file }: { file: string }) => file);
    expect(listed.toSorted()).toEqual(files);
    const page = readPage(vloc.read('elsewhere/report.html'));
    expect(linksOf(page)).toEqual(new Set(files.filter((name) => name !== 'report.html')));
    const original = readFileSync(vloc.path('elsewhere/originals/week 1/talk #1.mp4'));
    expect(original.equals(readFileSync(vloc.path('lessons/week 1/talk #1.mp4')))).toBe(true);
    expect(page.facts.run_in).toBeNull();
    const jobs = (await vloc.caller.get('/v1/auto-localizations?limit=50')).json.data;
    const secrets = [vloc.folder, new URL(vloc.service.url).host, vloc.credentials.key, jobs[0].id];
    for (const name of files) {
      const text = readFileSync(vloc.path(`elsewhere/${name}`), 'latin1').replace(
        /<script>.*?<\/script>/s,
        '',
      );
      for (const secret of [...secrets, 'vloc localize', 'vloc batch', 'records.db'])
        expect(text.includes(secret), `${name}: ${secret}`).toBe(false);
    }
  });

  it('packs several folders without inputs, tells equal names apart, and names what is missing with exit code 3', async () => {
    const { run, path } = await startDub();
    cpSync(path('out'), path('out-2'), { recursive: true });
    const pack = ['batch', 'pack', 'out', 'out-2'];
    const { code, stderr } = await run([...pack, 'copies/lessons', '--no-originals']);
    expect(code, stderr).toBe(0);
    const all = ['results/talk.es-2.wav', 'results/talk.es.wav', 'subtitles/talk.srt'];
    expect(filesBelow(path('copies/lessons'))).toEqual(['report.html', ...all]);
    expect(linksOf(readPage(readFileSync(path('copies/lessons/report.html'), 'utf8')))).toEqual(new Set(all));
    rmSync(path('out/talk.es.wav'));
    const missing = await run([...pack, 'rest', '--no-originals', '-o', 'json']);
    expect(missing.code).toBe(3);
    expect(missing.stderr).toContain('1 file missing: out/talk.es.wav');
    expect(JSON.parse(missing.stdout).data).toContainEqual({ file: 'results/talk.es.wav', bytes: null });
    expect(filesBelow(path('rest'))).toContain('results/talk.es-2.wav');
  });

  it('replaces no file without --clobber, no folder, and no file of the batch', async () => {
    const { run, path } = await startDub();
    writeFileSync(path('mine.zip'), 'mine');
    const refused = async (...words: readonly string[]) => {
      const { code, stderr } = await run(['batch', 'pack', ...words]);
      expect(code, stderr).toBe(2);
      return stderr;
    };
    expect(await refused('out', 'mine.zip')).toContain(`${path('mine.zip')} exists`);
    expect(await refused('out', 'lessons', '--clobber')).toContain('is an input of this batch');
    expect(await refused('out', 'state', '--clobber')).toContain(`${path('state')} exists`);
    expect(await refused('out', 'out/talk.es.wav')).toContain('is a result of this batch');
    expect(await refused('out')).toContain('only out is given');
    expect(readFileSync(path('mine.zip'), 'utf8')).toBe('mine');
    expect((await run(['batch', 'pack', 'out', 'mine.zip', '--clobber'])).code).toBe(0);
    expect(readFileSync(path('mine.zip'), 'latin1').slice(0, 2)).toBe('PK');
  });
});
