/** `--keep-audio` and `--keep-subtitles`, from the command to the tracks of the file. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ffmpeg, ffprobe } from '../../engines/workspace.ts';
import { createSmallEngines } from '../../service/harness/small-engines.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { pathWith } from '../../support/path-without.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import type { Ended } from '../../support/run-main.ts';
import { startVloc } from '../support/run-vloc.ts';

let video: Buffer | undefined;

/** One second with a tone and subtitles, both English; made once. */
function talk(): Buffer {
  if (video !== undefined) return video;
  const folder = makeFolder();
  writeFileSync(join(folder, 'en.srt'), '1\n00:00:00,100 --> 00:00:00,900\nhello\n');
  const path = join(folder, 'talk.mp4');
  ffmpeg(
    ...['-f', 'lavfi', '-i', 'testsrc=s=64x48:r=5:d=1', '-f', 'lavfi', '-i', 'sine=f=500:r=48000:d=1'],
    ...[
      '-i',
      join(folder, 'en.srt'),
      '-c:v',
      'libx264',
      '-preset',
      'ultrafast',
      '-pix_fmt',
      'yuv420p',
      '-c:a',
      'aac',
      '-c:s',
      'mov_text',
    ],
    ...['-metadata:s:a:0', 'language=eng', '-metadata:s:s:0', 'language=eng', path],
  );
  video = readFileSync(path);
  return video;
}

const KEEP_AUDIO = ['localize', 'talk.mp4', '--to', 'es', '--keep-audio'];

/** A service whose localization returns the video, and `talk.mp4` in the folder of the runs. */
async function start() {
  let downloads = 0;
  const small = createSmallEngines();
  const inspect = async () => ({
    duration_seconds: 1,
    container: 'mp4' as const,
    video: { codec: 'h264', width: 64, height: 48, frame_rate: 5 },
    audio: { codec: 'aac', sample_rate: 48_000, channels: 1 },
  });
  const vloc = await startVloc({
    engines: { ...small, inspect },
    onRequest: ({ operationId }) => {
      // Results are downloaded from addresses that are not an operation.
      if (operationId === null) downloads += 1;
    },
  });
  const at = (name: string) => join(vloc.folder, name);
  writeFileSync(at('talk.mp4'), talk());
  const run = (words: readonly string[], PATH = rememberingPath()): Promise<Ended> =>
    vloc.run(words, { env: { PATH } });
  return {
    ...{ at, run, downloads: () => downloads },
    localize: (...more: string[]) => run(['localize', 'talk.mp4', '--to', 'es', ...more]),
    jobs: async () => (await vloc.caller.get('/v1/auto-localizations?limit=50')).json.data,
  };
}

const languages = (path: string) => ffprobe(path, 'stream_tags=language').split('\n');

const brokenPath = () => pathWith('ffmpeg', 'echo it broke >&2', 'exit 1');

test('the result has the tracks of the original, which is unchanged, and `jobs wait` knows it', async () => {
  const { localize, run, at, jobs } = await start();
  const first = await localize('--keep-audio', '--keep-subtitles');
  expect(first.code, first.stderr).toBe(0);
  expect(languages(at('talk.es.mp4'))).toEqual(['und', 'eng', 'eng', 'eng', 'eng']);
  expect(readFileSync(at('talk.mp4')).equals(talk())).toBe(true);
  expect(readdirSync(at('.')).filter((name) => name.includes('.es.'))).toEqual(['talk.es.mp4']);
  const written = readFileSync(at('talk.es.mp4'));
  // `jobs wait` knows the file too, although its bytes are not those that the service states.
  const [{ id }, ...others] = await jobs();
  // A run that is killed after it named the result leaves its download.
  mkdirSync(at('.talk.es.mp4.add'));
  writeFileSync(at('.talk.es.mp4.add/result.mp4'), talk());
  const waited = await run(['jobs', 'wait', id]);
  expect(waited.code, waited.stderr).toBe(0);
  expect(readFileSync(at('talk.es.mp4')).equals(written)).toBe(true);
  expect(existsSync(at('.talk.es.mp4.add'))).toBe(false);
  expect(others).toEqual([]);
});

test.each([
  ['jobs wait', (id: string) => ['jobs', 'wait', id]],
  ['the same command', () => KEEP_AUDIO],
])('a result that could not get its tracks is kept, and gets them with %s', async (_name, goOn) => {
  const { run, at, jobs, downloads } = await start();
  const failed = await run(KEEP_AUDIO, brokenPath());
  expect(failed.code).not.toBe(0);
  expect(failed.stderr).toContain('it broke');
  expect(failed.stderr).toContain('.talk.es.mp4.add');
  expect(existsSync(at('talk.es.mp4'))).toBe(false);
  expect(readFileSync(at('.talk.es.mp4.add/result.mp4')).equals(talk())).toBe(true);
  const [{ id }] = await jobs();
  const before = downloads();
  expect(before).toBeGreaterThan(0);
  const continued = await run(goOn(id));
  expect(continued.code, continued.stderr).toBe(0);
  expect(languages(at('talk.es.mp4'))).toEqual(['und', 'eng', 'eng', 'eng']);
  expect(downloads()).toBe(before);
  expect(existsSync(at('.talk.es.mp4.add'))).toBe(false);
  expect(await jobs()).toHaveLength(1);
});

test('a source that was changed meanwhile does not become part of the result', async () => {
  const { run, at, jobs } = await start();
  const detached = await run(['localize', 'talk.mp4', '--to', 'es', '--keep-audio', '--detach', '-o', 'id']);
  const id = detached.stdout.trim();
  writeFileSync(at('talk.mp4'), 'another video');
  const waited = await run(['jobs', 'wait', id]);
  expect(waited.code).not.toBe(0);
  expect(waited.stderr).toContain('talk.mp4 was changed since the result was made');
  expect((await run(['jobs', 'wait', id, '--as-is'])).code).toBe(0);
  expect(languages(at('talk.es.mp4'))).toEqual(['und', 'eng', 'eng']);
  expect(await jobs()).toHaveLength(1);
});

test('an impossible request, or missing ffmpeg, is reported before anything is sent', async () => {
  const { run, jobs } = await start();
  const refusals = [
    [
      ['https://a.example/talk.mp4', '--keep-audio'],
      /is not a file on this machine, from which --keep-audio/,
    ],
    [['talk.mp4', '--keep-audio', '--mode', 'subtitles_only'], /--keep-audio: adds nothing/],
  ] as const;
  for (const [words, message] of refusals) {
    const { code, stderr } = await run(['localize', ...words, '--to', 'es']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  }
  const { code, stderr } = await run(
    ['localize', 'talk.mp4', '--to', 'es', '--keep-subtitles'],
    '/nonexistent',
  );
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/--keep-subtitles: needs ffmpeg and ffprobe on this machine/);
  expect(await jobs()).toEqual([]);
});
