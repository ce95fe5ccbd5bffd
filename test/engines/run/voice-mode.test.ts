/** The voice of a localization whose `voice_mode` is `auto`. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { VoiceMode } from '../../../src/engines/backend.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { createWork } from '../workspace.ts';
import { createStubEngines, LOCALIZATION, makeTalk } from './stub-engines.ts';

/** The voice that speaks the dub of a video. */
async function voiceFor(video: string, voiceMode: VoiceMode = 'auto'): Promise<string | undefined> {
  const { run, runs } = createStubEngines();
  await run.auto_localization({ ...LOCALIZATION, voiceMode, video }, createWork(makeFolder()));
  return runs().at(-1);
}

/** A woman's voice of espeak-ng, 195 Hz. */
function woman(): string {
  const path = join(makeFolder(), 'woman.wav');
  const text = 'The train leaves at nine in the morning, and arrives in the city at noon.';
  execFileSync('espeak-ng', ['-v', 'en-us+f2', '-w', path, text]);
  return path;
}

test('a man is dubbed by the voice of a man', async () => {
  expect(await voiceFor(makeTalk(4))).toBe('speak man');
});

test('above 130 Hz the usual voice speaks, because pitch alone does not tell', async () => {
  expect(await voiceFor(makeTalk(4, woman()))).toBe('speak any');
});

test('a voice that was asked for is used, whoever speaks', async () => {
  expect(await voiceFor(makeTalk(4), 'female')).toBe('speak woman');
});
