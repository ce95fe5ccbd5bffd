/** How often engines run for jobs that share steps: programs of the user that count, and the cache of the service. */
import { mkdirSync, readFileSync } from 'node:fs';
import { readFile, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Tasks } from '../../../src/engines/engine.ts';
import { createEngines } from '../../../src/engines/index.ts';
import type { EngineUse } from '../../../src/media/work.ts';
import { createMovableClock } from '../../../src/service/control/clock.ts';
import { createStageCache } from '../../../src/service/stages/stage-cache.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { script } from '../backends/user-program.ts';
import { createWork, ffmpeg, speechClip } from '../workspace.ts';

const SRT = '1\\n00:00:00,300 --> 00:00:01,500\\nhello there\\n';

/** A program of each step that writes its name into a log whenever it runs. */
function countingEngines(voice: string) {
  const log = join(makeFolder(), 'log');
  const tool = (name: string, body: string) => script(`echo ${name} >> '${log}'\n${body}`, name);
  const recognizer = tool('recognize', `printf '${SRT}'`);
  const config = {
    separate: [
      {
        type: 'command' as const,
        run: [tool('separate', 'cp "$1" "$2/voice.wav"; cp "$1" "$2/rest.wav"'), '{input}', '{out}'],
        vocals: 'voice.wav',
        background: 'rest.wav',
      },
    ],
    recognize: [{ type: 'command' as const, run: [recognizer, '{input}'], languages: ['en'] }],
    translate: [
      {
        type: 'command' as const,
        run: [tool('translate', `sed 's/"text":"\\([^"]*\\)".*/"text":"\\1 hola"}/'`)],
        languages: ['en', 'es', 'ca'],
      },
    ],
    speak: [
      {
        type: 'command' as const,
        run: [tool('speak', `cat '${voice}'`)],
        languages: ['es', 'ca'],
      },
    ],
  };
  const runs = () => {
    const names = readFileSync(log, 'utf8').trim().split('\n');
    return Object.fromEntries(
      ['separate', 'recognize', 'translate', 'speak'].map((step) => [
        step,
        names.filter((name) => name === step).length,
      ]),
    );
  };
  return { config, runs, recognizer };
}

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

/** Two seconds of speech with a picture, and a short sound. */
function makeMedia() {
  const folder = makeFolder();
  const [video, voice] = [join(folder, 'talk.mp4'), join(folder, 'voice.wav')];
  const picture = ['-f', 'lavfi', '-i', 'color=size=64x64:rate=10:duration=2'];
  ffmpeg(...picture, '-i', speechClip('0870'), '-t', '2', '-c:a', 'aac', '-c:v', 'mpeg4', video);
  ffmpeg('-f', 'lavfi', '-i', 'sine=duration=0.5:sample_rate=16000', voice);
  return { video, voice };
}

const LOCALIZATION: Omit<Tasks['auto_localization'], 'video'> = {
  ...{ sourceLanguage: 'en', targetLanguage: 'es', mode: 'standard', voiceMode: 'auto' },
  ...{ subtitleOutput: 'soft', originalAudio: 'background', resolution: 'source' },
};

const reusedOf = (made: { engines?: readonly EngineUse[] }) =>
  (made.engines ?? []).filter(({ reused }) => reused === true).map(({ step }) => step);

test('languages, kinds of jobs and changed options share the results of common steps', async () => {
  const { video, voice } = makeMedia();
  const { config, runs, recognizer } = countingEngines(voice);
  const engines = createEngines({ searchPath: rememberingPath(), config });
  const work = shareStages();
  const localize = (change: Partial<typeof LOCALIZATION>) =>
    engines.run.auto_localization({ ...LOCALIZATION, ...change, video }, work());

  const both = await Promise.all([localize({}), localize({ targetLanguage: 'ca' })]);
  // Either of the two may be the first to recognize.
  expect(both.flatMap(reusedOf).toSorted()).toEqual(['recognize', 'separate']);
  expect(runs()).toEqual({ separate: 1, recognize: 1, translate: 2, speak: 2 });

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
  expect(runs()).toEqual({ separate: 1, recognize: 1, translate: 2, speak: 2 });

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
  await utimes(recognizer, new Date(0), new Date(0));
  const newer = await engines.run.subtitle_recognition({ video, sourceLanguage: 'en' }, work());
  expect(reusedOf(newer)).toEqual(['separate']);
  await engines.close?.();
});
