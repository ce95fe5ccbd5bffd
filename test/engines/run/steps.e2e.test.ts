/** How often engines run for jobs that share steps through the cache of the service. */
import { mkdirSync } from 'node:fs';
import { readFile, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { EngineUse } from '../../../src/media/work.ts';
import { createMovableClock } from '../../../src/service/control/clock.ts';
import { createStageCache } from '../../../src/service/stages/stage-cache.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { createWork } from '../workspace.ts';
import { createStubEngines, LOCALIZATION, makeTalk } from './stub-engines.ts';

/** A folder of jobs on one machine, which share steps. */
function shareStages() {
  const folder = makeFolder();
  const root = join(folder, 'stages');
  mkdirSync(root);
  const clock = createMovableClock();
  const cache = createStageCache({
    ...{ root, path: join(folder, 'stages.sqlite'), maxBytes: 1024 ** 3, clock, log: () => {} },
  });
  onTestFinished(() => cache.close());
  const sharing = cache.forJob({
    keyId: 'key',
    expiresAt: clock.now() + 86_400_000,
    lend: (wait) => wait(),
  });
  return () => ({ ...createWork(makeFolder()), sharing });
}

const SHARED = { ...LOCALIZATION, subtitleOutput: 'soft', originalAudio: 'background' } as const;

const reusedOf = (made: { engines?: readonly EngineUse[] }) =>
  (made.engines ?? []).filter(({ reused }) => reused === true).map(({ step }) => step);

test('languages, kinds of jobs and changed options share the results of common steps', async () => {
  const video = makeTalk();
  const engines = createStubEngines('command');
  const counts = () => {
    const steps = engines.runs().map((line) => line.split(' ')[0]);
    return Object.fromEntries(
      [...new Set(steps)].map((step) => [step, steps.filter((each) => each === step).length]),
    );
  };
  const work = shareStages();
  const localize = (change: Partial<typeof LOCALIZATION>) =>
    engines.run.auto_localization({ ...SHARED, ...change, video }, work());

  const both = await Promise.all([localize({}), localize({ targetLanguage: 'ca' })]);
  // Either of the two may be the first to recognize.
  expect(both.flatMap(reusedOf).toSorted()).toEqual(['recognize', 'separate']);
  expect(counts()).toEqual({ separate: 1, recognize: 1, translate: 2, speak: 2 });

  const plain = await localize({ subtitleOutput: 'none', originalAudio: 'mute' });
  expect(reusedOf(plain)).toEqual(['separate', 'recognize', 'translate', 'speak']);

  const recognized = await engines.run.subtitle_recognition({ video, sourceLanguage: 'en' }, work());
  expect(reusedOf(recognized)).toEqual(['separate', 'recognize']);
  const { lines } = recognized.subtitle;
  const languages = { sourceLanguage: 'en', targetLanguage: 'es' };
  const translated = await engines.run.subtitle_translation({ lines, ...languages }, work());
  expect(reusedOf(translated)).toEqual(['translate']);

  const separated = await engines.run.audio_separation({ video }, work());
  expect(reusedOf(separated)).toEqual(['separate']);
  expect(counts()).toEqual({ separate: 1, recognize: 1, translate: 2, speak: 2 });

  // Without sharing: the same bytes.
  const alone = await engines.run.audio_separation({ video }, createWork(makeFolder()));
  expect(reusedOf(alone)).toEqual([]);
  for (const stem of ['vocalAudio', 'backgroundAudio'] as const) {
    expect((await readFile(separated[stem].path)).equals(await readFile(alone[stem].path))).toBe(true);
  }

  // Edited subtitles are new words, which are translated and spoken.
  const edited = lines.map((line) => ({ ...line, text: 'good morning' }));
  expect(reusedOf(await engines.run.subtitle_translation({ lines: edited, ...languages }, work()))).toEqual(
    [],
  );

  // A newer program recognizes again, from the same separation.
  await utimes(engines.recognizer, new Date(0), new Date(0));
  const newer = await engines.run.subtitle_recognition({ video, sourceLanguage: 'en' }, work());
  expect(reusedOf(newer)).toEqual(['separate']);
});
