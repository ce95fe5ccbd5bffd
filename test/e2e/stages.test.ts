/** A cue edited between translation and dub, with the real engines: its words are in the sound of the finished video. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ffmpeg, SAMPLE } from '../engines/workspace.ts';
import { makeFolder } from '../support/make-folder.ts';
import { runMain } from '../support/run-main.ts';

const MINUTES = 60_000;

/** The recognizer hears English only, so the dub is English; the words that it is made from are written by hand. */
const SPANISH = [
  '1\n00:00:00,200 --> 00:00:01,800\nLa casa es grande.\n',
  '2\n00:00:02,500 --> 00:00:06,000\nEl tiempo es bueno hoy.\n',
].join('\n');
const LOCALIZE = ['localize', 'talk.mp4', '--from', 'es', '--to', 'en', '--from-subtitles'];

it('an edited cue is dubbed again and heard, and nothing else runs', { timeout: 5 * MINUTES }, async () => {
  const folder = makeFolder();
  // Both cues are in it.
  ffmpeg('-i', SAMPLE, '-t', '6.5', '-c', 'copy', join(folder, 'talk.mp4'));
  writeFileSync(join(folder, 'talk.es.srt'), SPANISH);
  const env = { PATH: process.env.PATH ?? '', VLOC_STATE_DIR: join(folder, 'state'), HOME: folder };
  const run = async (...words: string[]) => {
    const ended = await runMain(words, { cwd: folder, env });
    expect(ended.code, ended.stderr).toBe(0);
    return ended;
  };
  const count = async (kind: string) => {
    const { stdout } = await run('jobs', 'list', '--kind', kind, '--all', '-o', 'id');
    return stdout.split('\n').filter((line) => line !== '').length;
  };
  const counts = () => Promise.all(['subtitle_translation', 'dubbing'].map(count));

  const finish = [...LOCALIZE, '--original-audio', 'mute'];
  await run(...finish);

  const file = join(folder, 'talk.en.srt');
  const [before = ''] = readFileSync(file, 'utf8').split('\n').slice(6);
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(before, 'Seven hundred people have been here for twenty years.'),
  );
  const { stderr } = await run(...finish);
  expect(stderr).toContain(`- ${before}`);
  expect(stderr).toContain('+ Seven hundred people have been here for twenty years.');
  expect(await counts()).toEqual([1, 2]);

  await run('recognize', 'talk.en.mp4', '--from', 'en', '--out', 'heard');
  const heard = readFileSync(join(folder, 'heard', 'talk.en.en.srt'), 'utf8');
  expect(heard.toLowerCase()).toMatch(/00:00:0[23],\d{3} --> .*\n(.*\n)?.*people/);
});
