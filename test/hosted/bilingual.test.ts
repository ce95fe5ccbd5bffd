/** A video in two languages at a service that knows only what the specification shows: it is put together on this machine. */
import { execFileSync } from 'node:child_process';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rememberingPath } from '../support/remembered-programs.ts';
import { readBooks } from './books.ts';
import { openHosted } from './run-hosted.ts';
import { VARIANTS } from './variants.ts';

const VIDEO = join(import.meta.dirname, '..', 'fixtures', 'two-seconds.mp4');
const LOCALIZE = ['localize', 'new.mp4', '--to', 'es', '--from', 'en', '--subtitle-output', 'soft'];

test('the track has both, the dub is sent only the translation, and nothing is paid twice', async () => {
  const translate = (text: string, language: string) => `${text} in ${language}`;
  const options = { jobMs: () => 0, translate };
  const { hosted, folder, env, run } = await openHosted(VARIANTS.minimal, new Set(), options);
  await copyFile(VIDEO, join(folder, 'new.mp4'));
  const withPrograms = { env: { ...env, PATH: rememberingPath() } };
  const firstCue = () => {
    const args = ['-v', 'error', '-i', join(folder, 'new.es.mp4'), '-map', '0:s:0', '-f', 'srt', '-'];
    const [cue = ''] = execFileSync('ffmpeg', args, { encoding: 'utf8' }).replaceAll('\r', '').split('\n\n');
    return cue.split('\n').slice(2);
  };
  const dry = await run([...LOCALIZE, '--bilingual', 'above', '--dry-run'], withPrograms);
  expect(dry.code, dry.stderr).toBe(0);
  expect(dry.stdout + dry.stderr).toContain('as one job, without --bilingual: ');
  expect(dry.stdout + dry.stderr).toContain('with the spoken words above their translation');
  expect(hosted.jobs.size).toBe(0);

  const ended = await run([...LOCALIZE, '--bilingual', 'above'], withPrograms);
  expect(ended.code, ended.stderr).toBe(0);
  expect(firstCue()).toEqual(['good morning', 'good morning in es']);
  const dubs = [...hosted.jobs.values()].filter(({ path }) => path === 'dubbings');
  expect(dubs.flatMap(({ given }) => given.lines[0]?.text)).toEqual(['good morning in es']);
  expect([...hosted.jobs.values()].map(({ path }) => path).toSorted()).toEqual([
    ...['audio-separations', 'dubbings', 'subtitle-recognitions', 'subtitle-translations'],
  ]);
  const below = await run([...LOCALIZE, '--bilingual', 'below'], withPrograms);
  expect(below.code, below.stderr).toBe(0);
  expect(firstCue()).toEqual(['good morning in es', 'good morning']);
  expect(Object.values(readBooks(hosted).payments)).toEqual([1, 1, 1, 1]);
});
