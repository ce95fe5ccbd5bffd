/** Stub engines: programs of the user that answer the same for every video, and a log of their runs. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Tasks } from '../../../src/engines/engine.ts';
import { createEngines } from '../../../src/engines/index.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { script } from '../backends/user-program.ts';
import { ffmpeg, speechClip } from '../workspace.ts';

const SRT = '1\\n00:00:00,300 --> 00:00:01,500\\nhello there\\n';

export const LOCALIZATION: Omit<Tasks['auto_localization'], 'video'> = {
  ...{ sourceLanguage: 'en', targetLanguage: 'es', mode: 'standard', voiceMode: 'auto' },
  ...{ subtitleOutput: 'none', originalAudio: 'mute', resolution: 'source' },
};

/**
 * Engines that end with the test. Each run of a program is a line of the log: its name, and of a speaker its voice.
 * @param separator a program too, or the built-in one, which starts fewer processes
 */
export function createStubEngines(separator: 'builtin' | 'command' = 'builtin') {
  const folder = makeFolder();
  const [log, said] = [join(folder, 'log'), join(folder, 'said.wav')];
  writeFileSync(log, '');
  ffmpeg('-f', 'lavfi', '-i', 'sine=duration=0.5:sample_rate=16000', said);
  const tool = (name: string, body: string, note = '') =>
    script(`echo ${name} ${note} >> '${log}'\n${body}`, name);
  const recognizer = tool('recognize', `printf '${SRT}'`);
  const voices = { female: 'woman', male: 'man' };
  const engines = createEngines({
    searchPath: rememberingPath(),
    config: {
      separate: [
        separator === 'builtin'
          ? separator
          : {
              type: separator,
              run: [tool('separate', 'cp "$1" "$2/voice.wav"; cp "$1" "$2/rest.wav"'), '{input}', '{out}'],
              ...{ vocals: 'voice.wav', background: 'rest.wav' },
            },
      ],
      recognize: [{ type: 'command', run: [recognizer, '{input}'], languages: ['en'] }],
      translate: [
        {
          type: 'command',
          run: [tool('translate', `sed 's/"text":"\\([^"]*\\)".*/"text":"\\1 hola"}/'`)],
          languages: ['en', 'es', 'ca'],
        },
      ],
      speak: [
        {
          type: 'command',
          run: [tool('speak', `cat '${said}'`, '$1'), '{voice}'],
          voices: { es: { auto: 'any', ...voices }, ca: { auto: 'any', ...voices } },
        },
      ],
    },
  });
  onTestFinished(() => engines.close?.());
  const runs = () => readFileSync(log, 'utf8').trim().split('\n');
  return { run: engines.run, runs, recognizer };
}

/** A video with the beginning of this sound; default: a man who speaks English. */
export function makeTalk(seconds = 2, sound = speechClip('0870')): string {
  const video = join(makeFolder(), 'talk.mp4');
  const picture = ['-f', 'lavfi', '-i', `color=size=64x64:rate=10:duration=${seconds}`];
  ffmpeg(...picture, '-i', sound, '-t', String(seconds), '-c:a', 'aac', '-c:v', 'mpeg4', video);
  return video;
}
