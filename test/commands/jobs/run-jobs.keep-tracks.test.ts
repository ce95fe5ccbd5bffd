/** `--keep-audio` and `--keep-subtitles`, from the command to the tracks of the file. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ffprobe } from '../../engines/workspace.ts';
import { pathWith } from '../../support/path-without.ts';
import { startTalk, talk } from './titled-talk.ts';

const KEEP_AUDIO = ['localize', 'talk.mp4', '--to', 'es', '--keep-audio'];

const languages = (path: string) => ffprobe(path, 'stream_tags=language').split('\n');

const brokenPath = () => pathWith('ffmpeg', 'echo it broke >&2', 'exit 1');

test('the result has the tracks of the original, which is unchanged, and `jobs wait` knows it', async () => {
  const { localize, run, at, jobs } = await startTalk();
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

test('a result that could not get its tracks is kept, and gets them with the same command', async () => {
  const { run, at, jobs, downloads } = await startTalk();
  const failed = await run(KEEP_AUDIO, brokenPath());
  expect(failed.code).not.toBe(0);
  expect(failed.stderr).toContain('it broke');
  expect(failed.stderr).toContain('.talk.es.mp4.add');
  expect(existsSync(at('talk.es.mp4'))).toBe(false);
  expect(readFileSync(at('.talk.es.mp4.add/result.mp4')).equals(talk())).toBe(true);
  const before = downloads();
  expect(before).toBeGreaterThan(0);
  const continued = await run(KEEP_AUDIO);
  expect(continued.code, continued.stderr).toBe(0);
  expect(languages(at('talk.es.mp4'))).toEqual(['und', 'eng', 'eng', 'eng']);
  expect(downloads()).toBe(before);
  expect(existsSync(at('.talk.es.mp4.add'))).toBe(false);
  expect(await jobs()).toHaveLength(1);
});

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
