/** `--mark` and `--no-mark` of a localization in one job, from the command to the tags of the file. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hashFile } from '../../../src/base/hash-file.ts';
import { provenancePath, readProvenance } from '../../../src/batch/provenance-file.ts';
import { readMark } from '../../../src/media/export/mark.ts';
import { ffmpeg, ffprobe } from '../../engines/workspace.ts';
import { createSmallEngines } from '../../service/harness/small-engines.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { startVloc } from '../support/run-vloc.ts';

let video: Buffer | undefined;

/** A second with a tone, a title and a comment; made once. */
function talk(): Buffer {
  if (video !== undefined) return video;
  const path = join(makeFolder(), 'talk.mp4');
  ffmpeg(
    ...['-f', 'lavfi', '-i', 'testsrc=s=64x48:r=5:d=1', '-f', 'lavfi', '-i', 'sine=f=500:d=1'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac'],
    ...['-metadata', 'title=Talk', '-metadata', 'comment=Filmed in Bremen', path],
  );
  video = readFileSync(path);
  return video;
}

/** A service whose localization returns the video as it is. */
async function start() {
  const small = createSmallEngines();
  const inspect = async () => ({
    duration_seconds: 1,
    container: 'mp4' as const,
    video: { codec: 'h264', width: 64, height: 48, frame_rate: 5 },
    audio: { codec: 'aac', sample_rate: 44_100, channels: 1 },
  });
  const vloc = await startVloc({ engines: { ...small, inspect } });
  const at = (name: string) => join(vloc.folder, name);
  writeFileSync(at('talk.mp4'), talk());
  const run = (words: readonly string[]) => vloc.run(words, { env: { PATH: rememberingPath() } });
  return {
    ...{ at, run },
    localize: (...more: string[]) => run(['localize', 'talk.mp4', '--to', 'es', ...more]),
    jobs: async () => (await vloc.caller.get('/v1/auto-localizations?limit=50')).json.data,
    isAsDelivered: (name = 'talk.es.mp4') => readFileSync(at(name)).equals(readFileSync(at('talk.mp4'))),
  };
}

const commentOf = (path: string) => ffprobe(path, 'format_tags=comment');

const FILE = 'talk.es.provenance.json';

test('a delivered video stays as it is, byte by byte, and gets its provenance and a mark and loses it without another job', async () => {
  const { localize, run, at, jobs, isAsDelivered } = await start();
  const { stderr } = await localize('--mark', '--provenance', '--dry-run');
  expect(stderr).toContain('talk.mp4: the delivered video is marked as machine-made on this machine, free.');
  expect(stderr).toContain(
    '{stem}.{lang}.provenance.json is written beside each result on this machine, free.',
  );
  const asked = await localize('--provenance');
  expect(asked.code, asked.stderr).toBe(0);
  expect(isAsDelivered()).toBe(true);
  const text = readFileSync(at(FILE), 'utf8');
  expect(await readProvenance(at('talk.es.mp4'))).toMatchObject({
    source: { name: 'talk.mp4', sha256: await hashFile(at('talk.mp4')) },
    result: { name: 'talk.es.mp4', sha256: await hashFile(at('talk.es.mp4')) },
    ...{ synthetic_speech: true, from: null, to: ['es'], edited: [] },
    // A service does not say which engines it has.
    steps: ['recognize', 'translate', 'speak'].map((step) => ({ step, by: 'machine', engine: null })),
  });
  const refused = await localize('--mark', '--provenance');
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('with other options: none → mark'),
  ]);
  expect(readFileSync(at(FILE), 'utf8')).toBe(text);

  const marked = await localize('--mark', '--provenance', '--clobber');
  expect(marked.code, marked.stderr).toBe(0);
  const comment = commentOf(at('talk.es.mp4'));
  expect(comment).toMatch(/^Filmed in Bremen\nSynthetic speech in Spanish, translated; /);
  expect(readMark(comment)).toMatchObject({ synthetic_speech: true, from: null, to: ['es'] });
  expect((await readProvenance(at('talk.es.mp4')))?.result.sha256).toBe(await hashFile(at('talk.es.mp4')));

  const good = await run(['verify', 'talk.es.mp4']);
  expect(good.code, good.stderr).toBe(0);
  expect(good.stdout).toMatch(/^talk\.es\.mp4 +verified$/m);
  expect(good.stdout).toContain('Synthetic speech in Spanish');
  expect(good.stdout).toContain('recognized by an engine that the service does not name');
  writeFileSync(at('changed.mp4'), Buffer.concat([readFileSync(at('talk.es.mp4')), Buffer.alloc(8)]));
  copyFileSync(at(FILE), provenancePath(at('changed.mp4')));
  const others = await run(['verify', 'changed.mp4', 'talk.mp4', '--output', 'json']);
  expect(others.code).toBe(3);
  expect(JSON.parse(others.stdout).data).toMatchObject([
    { file: 'changed.mp4', status: 'changed', tag: { to: ['es'] }, provenance: { to: ['es'] } },
    { file: 'talk.mp4', status: 'incomplete', tag: null, provenance: null },
  ]);
  const unread = await run(['verify', FILE, 'no.mp4']);
  expect([unread.code, unread.stderr]).toEqual([2, expect.stringContaining('2 files cannot be read')]);

  expect((await localize('--no-mark', '--clobber')).code).toBe(0);
  expect(isAsDelivered()).toBe(true);
  expect(await jobs()).toHaveLength(1);
});

test('a video that this machine changes is marked, also by `jobs download`, which leaves it as it is with --as-is', async () => {
  const { localize, run, at, jobs, isAsDelivered } = await start();
  expect((await localize('--keep-audio')).code).toBe(0);
  expect(readMark(commentOf(at('talk.es.mp4')))?.to).toEqual(['es']);
  const [{ id }] = await jobs();
  expect((await run(['jobs', 'download', id, '--out', 'again'])).code).toBe(0);
  expect(readMark(commentOf(at('again/talk.es.mp4')))?.to).toEqual(['es']);
  expect((await run(['jobs', 'download', id, '--out', 'plain', '--as-is'])).code).toBe(0);
  expect(isAsDelivered('plain/talk.es.mp4')).toBe(true);
});

test('--provenance never replaces a file of the user, and the result is there', async () => {
  const { localize, at, isAsDelivered } = await start();
  writeFileSync(at(FILE), 'mine');
  const first = await localize('--provenance');
  expect(first).toMatchObject({ code: 2, stderr: expect.stringContaining(FILE) });
  expect(readFileSync(at(FILE), 'utf8')).toBe('mine');
  expect(isAsDelivered()).toBe(true);
});

test('`verify` escapes what others have written into a tag, and waits for no pipe', async () => {
  const { run, at } = await start();
  const mark = { synthetic_speech: true, from: null, to: ['es'], engines: null, date: '', tool: '\u001b[2J' };
  const comment = `x [vloc-mark ${JSON.stringify(mark)}]`;
  ffmpeg('-i', at('talk.mp4'), '-c', 'copy', '-metadata', `comment=${comment}`, at('bad.mp4'));
  execFileSync('mkfifo', [provenancePath(at('bad.mp4'))]);
  const { code, stdout } = await run(['verify', 'bad.mp4']);
  expect(code).toBe(3);
  expect(stdout).toContain('made with');
  expect(stdout).not.toContain('\u001b');
});
