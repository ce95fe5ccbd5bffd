/** The voice of a localization, and the tag of the video that it finishes. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Tasks } from '../../../src/engines/engine.ts';
import { readMark } from '../../../src/media/export/mark.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { createWork, ffprobe } from '../workspace.ts';
import { createStubEngines, LOCALIZATION, makeTalk } from './stub-engines.ts';

const DAY = Date.parse('2026-11-29T12:00:00Z');

/** Localizes a video; default: one in which a man speaks. */
async function localize(changes: Partial<Tasks['auto_localization']> = {}) {
  const { run, runs } = createStubEngines('command');
  const task = { ...LOCALIZATION, sourceLanguage: 'auto', video: makeTalk(), ...changes };
  const { video } = await run.auto_localization(task, { ...createWork(makeFolder()), atMs: DAY });
  return { last: runs().at(-1), mark: readMark(ffprobe(video.path, 'format_tags=comment')) };
}

/** A woman's voice of espeak-ng, 195 Hz. */
function woman(): string {
  const path = join(makeFolder(), 'woman.wav');
  const text = 'The train leaves at nine in the morning, and arrives in the city at noon.';
  execFileSync('espeak-ng', ['-v', 'en-us+f2', '-w', path, text]);
  return path;
}

test('a man is dubbed by the voice of a man; the video names synthetic speech, languages, engines and day', async () => {
  const { last, mark } = await localize();
  expect(last).toBe('speak man');
  expect(mark).toMatchObject({
    ...{ synthetic_speech: true, from: 'en', to: ['es'], date: '2026-11-29' },
    engines: [
      { step: 'separate', engine: 'command separate' },
      { step: 'recognize', engine: 'command recognize' },
      { step: 'translate', engine: 'command translate' },
      { step: 'speak', engine: 'command speak' },
    ],
  });
});

test('above 130 Hz the usual voice speaks, because pitch alone does not tell', async () => {
  expect((await localize({ video: makeTalk(2, woman()) })).last).toBe('speak any');
});

test('given lines are dubbed by the voice that is asked for', async () => {
  const { run, runs } = createStubEngines();
  const lines = [{ index: 1, start_ms: 0, end_ms: 900, text: 'hola' }];
  await run.dubbing({ lines, targetLanguage: 'es', voiceMode: 'female' }, createWork(makeFolder()));
  expect(runs()).toEqual(['speak woman']);
});
