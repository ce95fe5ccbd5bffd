/** Engines of a program's own. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createEngines } from '../../src/service/index.ts';
import { createWork } from '../engines/workspace.ts';
import { makeFolder } from '../support/make-folder.ts';

/** A program that translates by writing in capitals. */
const SHOUT = `
  for await (const line of (await import('node:readline')).createInterface({ input: process.stdin })) {
    const cue = JSON.parse(line);
    console.log(JSON.stringify({ ...cue, text: cue.text.toUpperCase() }));
  }
`;

test('the service uses the engines that a program configures', async () => {
  const script = join(makeFolder(), 'shout.mjs');
  await writeFile(script, SHOUT);
  const entry = { type: 'command', run: [process.execPath, script], languages: ['en', 'es'] };
  const engines = await createEngines({ config: { translate: [entry] } });
  const lines = [{ index: 1, start_ms: 0, end_ms: 2000, text: 'Good morning.' }];
  const task = { lines, sourceLanguage: 'en', targetLanguage: 'es' };
  const { subtitle } = await engines.run.subtitle_translation(task, createWork(makeFolder()));
  expect(subtitle.lines.map(({ text }) => text)).toEqual(['GOOD MORNING.']);
  await engines.close?.();
});

test('mistakes in the configuration are listed', async () => {
  await expect(createEngines({ config: { translate: [{ type: 'opnai' }], dub: [] } })).rejects.toMatchObject({
    message: 'config cannot be used',
    facts: {
      code: 'ENGINES_INVALID',
      errors: [
        {
          pointer: 'translate[0] type',
          detail: 'this version of vloc has no such type; did you mean openai?',
        },
        { pointer: 'dub', detail: expect.stringContaining('this version of vloc has no such step') },
      ],
    },
  });
});
