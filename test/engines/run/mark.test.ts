/** The tag of a video that the embedded service finishes. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readMark } from '../../../src/media/export/mark.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { createWork, ffprobe } from '../workspace.ts';
import { createStubEngines, LOCALIZATION, makeTalk } from './stub-engines.ts';

const DAY = Date.parse('2026-11-29T12:00:00Z');

async function localize(mode: 'standard' | 'subtitles_only', atMs: number): Promise<string> {
  const task = { ...LOCALIZATION, sourceLanguage: 'auto', mode, video: makeTalk() };
  const { video } = await createStubEngines().run.auto_localization(task, {
    ...createWork(makeFolder()),
    atMs,
  });
  return video.path;
}

const markOf = (path: string) => readMark(ffprobe(path, 'format_tags=comment'));

test('a finished video names synthetic speech, languages, engines and day, and is the same on the same day', async () => {
  const made = await localize('standard', DAY);
  expect(markOf(made)).toMatchObject({
    ...{ synthetic_speech: true, from: 'en', to: ['es'], date: '2026-11-29' },
    engines: [
      { step: 'separate', engine: 'builtin' },
      { step: 'recognize', engine: 'command recognize' },
      { step: 'translate', engine: 'command translate' },
      { step: 'speak', engine: 'command speak' },
    ],
  });
  expect(readFileSync(await localize('standard', DAY + 3_600_000)).equals(readFileSync(made))).toBe(true);
});

test('without a dub it says that the subtitles are machine-made', async () => {
  expect(markOf(await localize('subtitles_only', DAY))).toMatchObject({ synthetic_speech: false });
});
