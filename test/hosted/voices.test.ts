/** A dub with several voices at a service that knows only what the specification shows. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { wavSeconds } from '../../src/media/audio/wav.ts';
import { rememberingPath } from '../support/remembered-programs.ts';
import { readBooks } from './books.ts';
import { openHosted } from './run-hosted.ts';
import { VARIANTS } from './variants.ts';

const VTT =
  'WEBVTT\n\n00:00.000 --> 00:01.000\n<v Anna>hello\n\n00:01.000 --> 00:02.500\n<v Ben>you too\n\n00:03.000 --> 00:04.000\nwell\n';
const DUB = ['dub', 'talk.vtt', '--to', 'es', '--voices', 'anna=female,ben=male'];

test('each speaker has a job whose request has no new field, and each is paid for once', async () => {
  const { hosted, folder, env, run } = await openHosted(VARIANTS.minimal, new Set(), { jobMs: () => 0 });
  await writeFile(join(folder, 'talk.vtt'), VTT);
  const withPrograms = { env: { ...env, PATH: rememberingPath() } };
  const ended = await run(DUB, withPrograms);
  expect(ended.code, ended.stderr).toBe(0);
  const requests = [...hosted.jobs.values()].map(({ request }) => request);
  expect(requests.map(({ voice_mode: voice }) => voice).toSorted()).toEqual(['female', 'male', undefined]);
  const known = ['subtitle', 'target_language', 'voice_mode', 'client_reference'];
  expect(requests.flatMap((request) => Object.keys(request)).filter((name) => !known.includes(name))).toEqual(
    [],
  );
  expect(await wavSeconds(join(folder, 'talk.es.wav'))).toBe(4);
  expect((await run(DUB, withPrograms)).code).toBe(0);
  expect(Object.values(readBooks(hosted).payments)).toEqual([1, 1, 1]);
});
