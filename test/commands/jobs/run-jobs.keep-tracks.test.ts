/** What `--keep-audio` and `--keep-subtitles` refuse. Their tracks: `delivered-videos.e2e.test.ts` and `batch/deliver/result-file.tracks`. */
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ffprobe } from '../../engines/workspace.ts';
import { startTalk } from './titled-talk.ts';

const languages = (path: string) => ffprobe(path, 'stream_tags=language').split('\n');

test('a source that was changed meanwhile does not become part of the result', async () => {
  const { run, at, jobs } = await startTalk();
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
  const { run, jobs } = await startTalk();
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
