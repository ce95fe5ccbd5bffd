/** The voice of a localization whose `voice_mode` is `auto`: programs of the user that write down which voice they get. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { VoiceMode } from '../../../src/engines/backend.ts';
import type { Tasks } from '../../../src/engines/engine.ts';
import { createEngines } from '../../../src/engines/index.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { script } from '../backends/user-program.ts';
import { createWork, ffmpeg, speechClip } from '../workspace.ts';

const SRT = '1\\n00:00:00,300 --> 00:00:01,500\\nhello there\\n';
const LOCALIZATION: Omit<Tasks['auto_localization'], 'video' | 'voiceMode'> = {
  ...{ sourceLanguage: 'en', targetLanguage: 'es', mode: 'standard' },
  ...{ subtitleOutput: 'none', originalAudio: 'background', resolution: 'source' },
};

/** The voice that speaks the dub of a video with this sound. */
async function voiceFor(sound: readonly string[], voiceMode: VoiceMode = 'auto'): Promise<string> {
  const folder = makeFolder();
  const [video, said, log] = ['talk.mp4', 'said.wav', 'voice'].map((name) => join(folder, name)) as [
    ...[string, string, string], // as many as there are names
  ];
  const picture = ['-f', 'lavfi', '-i', 'color=size=64x64:rate=10:duration=6'];
  ffmpeg(...picture, ...sound, '-af', 'apad', '-shortest', '-c:a', 'aac', '-c:v', 'mpeg4', video);
  ffmpeg('-f', 'lavfi', '-i', 'sine=duration=0.5:sample_rate=16000', said);
  const translator = script(`sed 's/"text":"\\([^"]*\\)".*/"text":"hola"}/'`, 'translate');
  const speaker = script(`echo "$1" > '${log}'\ncat '${said}'`, 'speak');
  const engines = createEngines({
    searchPath: rememberingPath(),
    config: {
      recognize: [
        { type: 'command', run: [script(`printf '${SRT}'`, 'recognize'), '{input}'], languages: ['en'] },
      ],
      translate: [{ type: 'command', run: [translator], languages: ['en', 'es'] }],
      speak: [
        {
          type: 'command',
          run: [speaker, '{voice}'],
          voices: { es: { auto: 'any', female: 'woman', male: 'man' } },
        },
      ],
    },
  });
  await engines.run.auto_localization({ ...LOCALIZATION, voiceMode, video }, createWork(folder));
  await engines.close?.();
  return readFileSync(log, 'utf8').trim();
}

const MAN = ['-i', speechClip('0870')];

/** A woman's voice of espeak-ng, 195 Hz. */
function woman(): string[] {
  const path = join(makeFolder(), 'woman.wav');
  const text = 'The train leaves at nine in the morning, and arrives in the city at noon.';
  execFileSync('espeak-ng', ['-v', 'en-us+f2', '-w', path, text]);
  return ['-i', path];
}

test('a man is dubbed by the voice of a man', async () => {
  expect(await voiceFor(MAN)).toBe('man');
});

test('above 130 Hz the usual voice speaks, because pitch alone does not tell', async () => {
  expect(await voiceFor(woman())).toBe('any');
});

test('a voice that was asked for is used, whoever speaks', async () => {
  expect(await voiceFor(MAN, 'female')).toBe('woman');
});
