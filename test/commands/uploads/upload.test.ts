import { readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSmallEngines, mediaOf, videoOf } from '../../service/harness/small-engines.ts';
import { startVloc } from '../support/run-vloc.ts';

const SRT = '1\n00:00:01,000 --> 00:00:02,000\nHello\n';
/** The beginning of an MP4, as far as anybody looks before it is sent. */
const MP4 = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), Buffer.alloc(1000)]);

/** Engines that take every video for one of a minute. */
const engines = () => ({ ...createSmallEngines(), inspect: async () => mediaOf(60) });

async function startWithFiles() {
  const vloc = await startVloc({ engines: engines() });
  await writeFile(join(vloc.folder, 'talk.mp4'), MP4);
  await writeFile(join(vloc.folder, 'talk.txt'), SRT);
  return vloc;
}

test('files become ready uploads, with a purpose that follows from their content', async () => {
  const vloc = await startWithFiles();
  const { code, stdout, stderr } = await vloc.run(['upload', 'talk.mp4', 'talk.txt', '-o', 'json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).data).toMatchObject([
    { status: 'ready', purpose: 'source_video', content_type: 'video/mp4', file_name: 'talk.mp4' },
    { status: 'ready', purpose: 'subtitle_file', content_type: 'application/x-subrip' },
  ]);
  expect(stderr).toContain('talk.mp4: ready: 1 min of video, 1.0 kB');
});

test('stdin is uploaded under the given name, and leaves nothing behind', async () => {
  const vloc = await startWithFiles();
  const before = await readdir(tmpdir());
  const words = ['upload', '-', '--file-name', 'talk.srt', '--client-reference', 'lesson-4'];
  const { stdout } = await vloc.run([...words, '-o', 'json'], { stdin: SRT });
  const [upload] = JSON.parse(stdout).data;
  expect(upload).toMatchObject({ status: 'ready', file_name: 'talk.srt', client_reference: 'lesson-4' });
  expect(upload.size_bytes).toBe(SRT.length);
  const left = (await readdir(tmpdir())).filter((name) => name.startsWith('vloc-stdin-'));
  expect(left).toEqual(before.filter((name) => name.startsWith('vloc-stdin-')));
});

test('bytes that were sent before are sent again only if another name is requested', async () => {
  const vloc = await startWithFiles();
  await writeFile(join(vloc.folder, 'same.txt'), SRT);
  const upload = async (...words: string[]) => {
    const { stdout, stderr } = await vloc.run(['upload', ...words, '-o', 'json']);
    return { ...JSON.parse(stdout).data[0], stderr };
  };
  const first = await upload('talk.txt');
  const again = await upload('talk.txt');
  expect(again.id).toBe(first.id);
  expect(again.stderr).toContain('sent before\n');
  const renamed = await upload('same.txt');
  expect(renamed.id).toBe(first.id);
  expect(renamed.stderr).toContain('sent before as talk.txt');
  const asked = await upload('talk.txt', '--file-name', 'other.srt');
  expect([asked.id === first.id, asked.file_name]).toEqual([false, 'other.srt']);
  expect((await upload('talk.txt', '--file-name', 'other.srt')).id).toBe(asked.id);
});

test('--no-wait returns before the end of the validation', async () => {
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const slow = engines();
  const vloc = await startVloc({
    engines: { ...slow, inspect: async () => gate.then(() => slow.inspect()) },
  });
  await writeFile(join(vloc.folder, 'talk.mp4'), MP4);
  const { code, stdout } = await vloc.run(['upload', 'talk.mp4', '--no-wait', '-o', 'json']);
  open();
  expect(code).toBe(0);
  expect(JSON.parse(stdout).data).toMatchObject([{ status: 'validating' }]);
});

test('all unusable files are reported together, and nothing is sent', async () => {
  const vloc = await startWithFiles();
  await writeFile(join(vloc.folder, 'notes.txt'), 'no cues here');
  await writeFile(join(vloc.folder, 'empty.mp4'), '');
  const { code, stderr } = await vloc.run(['upload', 'talk.mp4', 'notes.txt', 'empty.mp4', 'gone.mp4']);
  expect(code).toBe(2);
  for (const said of [
    'notes.txt: neither a video',
    'empty.mp4: it is empty',
    'gone.mp4: there is no such file',
  ]) {
    expect(stderr).toContain(said);
  }
  expect((await vloc.caller.get('/v1/uploads')).json.data).toEqual([]);
});

test('a file that the service rejects is a failure that names it, and the others succeed', async () => {
  const vloc = await startVloc();
  await writeFile(join(vloc.folder, 'bad.mp4'), MP4);
  await writeFile(join(vloc.folder, 'good.mp4'), videoOf(60));
  const words = ['upload', 'bad.mp4', 'good.mp4', '--purpose', 'source_video', '-o', 'json'];
  const { code, stdout, stderr } = await vloc.run(words);
  expect(code).toBe(3);
  expect(JSON.parse(stdout).data).toHaveLength(1);
  expect(JSON.parse(stderr.split('\n').at(-2) ?? '')).toMatchObject({
    error: { code: 'SOME_FAILED', errors: [{ pointer: 'bad.mp4' }] },
  });
});
