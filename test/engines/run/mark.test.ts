/** The tag of a video that the embedded service finishes, with programs of the user as engines. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Tasks } from '../../../src/engines/engine.ts';
import { createEngines } from '../../../src/engines/index.ts';
import { readMark } from '../../../src/media/export/mark.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { script } from '../backends/user-program.ts';
import { createWork, ffmpeg, ffprobe, speechClip } from '../workspace.ts';

const SRT = '1\\n00:00:00,300 --> 00:00:01,500\\nhello there\\n';
const TASK: Omit<Tasks['auto_localization'], 'video' | 'mode'> = {
  ...{ sourceLanguage: 'auto', targetLanguage: 'es', voiceMode: 'female' },
  ...{ subtitleOutput: 'none', originalAudio: 'mute', resolution: 'source' },
};
const DAY = Date.parse('2026-11-29T12:00:00Z');

async function localize(mode: 'standard' | 'subtitles_only', atMs: number): Promise<string> {
  const folder = makeFolder();
  const [video, said] = [join(folder, 'talk.mp4'), join(folder, 'said.wav')];
  const picture = ['-f', 'lavfi', '-i', 'color=size=64x64:rate=10:duration=6'];
  ffmpeg(...picture, '-i', speechClip('0870'), '-shortest', '-c:a', 'aac', '-c:v', 'mpeg4', video);
  ffmpeg('-f', 'lavfi', '-i', 'sine=duration=0.5:sample_rate=16000', said);
  const recognizer = script(`printf '${SRT}'`, 'recognize');
  const translator = script(`sed 's/"text":"\\([^"]*\\)".*/"text":"hola"}/'`, 'translate');
  const engines = createEngines({
    searchPath: rememberingPath(),
    config: {
      recognize: [{ type: 'command', run: [recognizer, '{input}'], languages: ['en'] }],
      translate: [{ type: 'command', run: [translator], languages: ['en', 'es'] }],
      speak: [{ type: 'command', run: [script(`cat '${said}'`, 'speak')], languages: ['es'] }],
    },
  });
  const made = await engines.run.auto_localization({ ...TASK, mode, video }, { ...createWork(folder), atMs });
  await engines.close?.();
  return made.video.path;
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
