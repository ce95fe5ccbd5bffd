import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createCommandSpeaker } from '../../../../src/engines/backends/command/speak.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import { ffmpeg } from '../../workspace.ts';
import { createParts, script } from '../user-program.ts';

const signal = new AbortController().signal;
const create = (run: string[], more: object = { languages: ['es'] }) =>
  createCommandSpeaker({ type: 'command', run, ...more }, createParts());

function speak(run: string[], more?: object, request: object = {}, folder = makeFolder()) {
  const usual = { text: 'Hola', language: 'es-MX', voiceMode: 'auto', speed: 1 } as const;
  return create(run, more).speak({ ...usual, ...request }, { signal, folder });
}

/** A WAV that sounds for a second after half a second of silence. */
function wav(): string {
  const file = join(makeFolder(), 'a.wav');
  ffmpeg('-f', 'lavfi', '-i', 'sine=440:duration=1:sample_rate=22050', '-af', 'adelay=500', file);
  return file;
}

describe('a program that speaks', () => {
  test('receives the text on stdin and may write the WAV to stdout', async () => {
    const clip = await speak([script(`[ "$(cat)" = Hola ] && cat ${wav()}`)]);
    expect(clip.sampleRate).toBe(22_050);
    expect(clip.samples.length / clip.sampleRate).toBeCloseTo(1, 1);
  });

  test('may write the WAV to the file that is passed to it, which is removed afterwards', async () => {
    const folder = makeFolder();
    const clip = await speak([script(`cp ${wav()} "$1"`), '{output}'], undefined, {}, folder);
    expect(clip.samples.length).toBeGreaterThan(20_000);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('gets a short path, because espeak-ng cuts paths of 200 bytes', async () => {
    const folder = makeFolder();
    const tool = script(`[ \${#1} -lt $((\${#PWD} + 20)) ] && cp ${wav()} "$1"`);
    expect((await speak([tool, '{output}'], undefined, {}, folder)).sampleRate).toBe(22_050);
  });

  test('is not started for a text without words', async () => {
    expect((await speak([script('exit 3')], undefined, { text: '…' })).samples).toHaveLength(0);
  });

  test('receives language, voice and speed', async () => {
    const tool = script(`[ "$*" = "es ana 1.25" ] && cat ${wav()}`);
    const voices = { es: { female: 'ana', male: 'luis' } };
    const request = { speed: 1.25, voiceMode: 'female' };
    const clip = await speak([tool, '{language}', '{voice}', '{speed}'], { voices }, request);
    expect(clip.sampleRate).toBe(22_050);
  });

  test('is named if it writes what is no sound', async () => {
    await expect(speak([script('echo hello', 'piper')])).rejects.toMatchObject({
      code: 'ENGINE_ERROR',
      message: expect.stringContaining('command piper returned what is not a sound that can be read'),
    });
  });

  test('is named if it writes no file', async () => {
    await expect(speak([script('true', 'piper'), '{output}'])).rejects.toThrow(
      'command piper did not write its WAV file',
    );
  });
});

describe('an entry of a program that speaks', () => {
  test('has the languages and voices that it names', async () => {
    const voices = { es: { female: 'ana', male: 'luis' }, fr: 'jean' };
    const speaker = create(['piper', '{voice}'], { voices });
    expect(await speaker.voices({ signal, folder: '/' })).toEqual([
      { language: 'es', voices: ['ana', 'luis'] },
      { language: 'fr', voices: ['jean'] },
    ]);
    expect(await speaker.supports('es-MX', { signal, folder: '/' })).toBe(true);
    expect(await speaker.supports('de', { signal, folder: '/' })).toBe(false);
    expect(await create(['piper']).voices({ signal, folder: '/' })).toEqual([{ language: 'es', voices: [] }]);
  });

  test('has a speed only if the program receives the speed', () => {
    expect(create(['piper']).mostSpeed).toBe(1);
    expect(create(['piper', '{speed}']).mostSpeed).toBe(1.6);
  });

  test.each([
    [{}, 'add "languages" with those that the program speaks'],
    [{ languages: ['es', 'fr'], voices: { es: 'ana' } }, 'add the voice for fr to "voices"'],
    [{ voices: { es: '--help' } }, 'the voice "--help" would be read as an option'],
  ])('is refused as %j', (more, message) => {
    expect(() => create(['piper', '{voice}'], more)).toThrow(`command piper: `);
    expect(() => create(['piper', '{voice}'], more)).toThrow(message);
  });
});
