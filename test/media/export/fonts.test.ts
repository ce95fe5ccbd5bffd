import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { hasFont, requireFont } from '../../../src/media/export/fonts.ts';
import { createWork, programs } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';

const line = (text: string) => ({ index: 1, start_ms: 0, end_ms: 1000, text });

test('Latin text can be shown, and nothing remains in the folder', async () => {
  const folder = makeFolder();
  const work = createWork(folder);
  await requireFont(programs, { language: 'es', lines: [line('¿Qué tal, señor Núñez?')] }, work);
  expect(await hasFont(programs, 'es', work)).toBe(true);
  expect(readdirSync(folder)).toEqual([]);
});

test('letters that no font has are reported with the language, the script and what to do', async () => {
  // Cypro-Minoan, which is in Unicode since 2021.
  const letters = String.fromCodePoint(0x12f90, 0x12f91, 0x12f92, 0x12f93);
  const work = createWork(makeFolder());
  await expect(requireFont(programs, { language: 'el', lines: [line(letters)] }, work)).rejects.toMatchObject(
    {
      code: 'LANGUAGE_NOT_SUPPORTED',
      retryable: false,
      message: expect.stringMatching(/characters of Greek \(script: Greek\).*vloc engines install --font el/),
    },
  );
});

test('a single rare letter and symbols are accepted', async () => {
  const text = `♪ the quick brown fox jumps over the lazy dog ${String.fromCodePoint(0x12f90)}`;
  const work = createWork(makeFolder());
  await expect(requireFont(programs, { language: 'en', lines: [line(text)] }, work)).resolves.toBeUndefined();
});

test('an emoji that no font has is refused by name', async () => {
  const work = createWork(makeFolder());
  // Reserved for future emoji, so that no font has it.
  const emoji = String.fromCodePoint(0x1faff);
  const lines = [line(`the quick brown fox jumps over the lazy dog ${emoji}`)];
  await expect(requireFont(programs, { language: 'en', lines }, work)).rejects.toMatchObject({
    code: 'LANGUAGE_NOT_SUPPORTED',
    message: expect.stringContaining(`the emoji ${emoji}, so these subtitles cannot be burned in`),
  });
});

test('an invalid language tag has no alphabet', async () => {
  const work = createWork(makeFolder());
  await expect(requireFont(programs, { language: 'und', lines: null }, work)).resolves.toBeUndefined();
});
