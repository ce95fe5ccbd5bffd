import { describe, expect, test } from 'vitest';
import { createCommandTranslator } from '../../../../src/engines/backends/command/translate.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import { createWork } from '../../workspace.ts';
import { createParts, nodeScript, script } from '../user-program.ts';

const create = (run: string[], languages: string[] | undefined = ['en', 'es', 'pt-BR']) =>
  createCommandTranslator({ type: 'command', run, languages }, createParts());
const run = { signal: new AbortController().signal, folder: '/' };

const texts = ['Hello', 'World "and"\\n more', '…'].map((text) => ({ text, durationMs: 1200.4 }));

function translate(program: string, args: string[] = []) {
  const work = createWork(makeFolder());
  const done = create([program, ...args]).translate({ from: 'en-GB', to: 'es-MX', texts }, work);
  return { done, work };
}

/** A program that writes this, whatever it reads. */
const writing = (output: string) => script(`cat > received\nprintf '%s\\n' ${output}`, 'nllb');

describe('a program that translates', () => {
  test('receives each text with its languages and time, and answers in any order', async () => {
    const program = nodeScript(`import { readFileSync } from 'node:fs';
    const cues = readFileSync(0, 'utf8').trim().split('\\n').map((line) => JSON.parse(line));
    for (const { id, ...cue } of cues.reverse())
      console.log(JSON.stringify({ id, text: Object.values(cue).join('/') }));`);
    const { done, work } = translate(program);
    expect(await done).toEqual(texts.map(({ text }) => `${text}/en/es/1200`));
    expect(work.reports.map(({ fraction }) => fraction)).toEqual([1 / 3, 2 / 3, 1]);
  });

  test('may receive the languages as arguments, and leave texts without words empty; each text is one row', async () => {
    const program = writing(
      `'{"id": 1, "text": "'"$*"'"}' '{"id": 2, "text": " a\\n b "}' '{"id": 3, "text": ""}'`,
    );
    expect(await translate(program, ['--from={from}', '{to}']).done).toEqual(['--from=en es', 'a b', '']);
  });

  test.each([
    [`'{"id": 1, "text": "a"}'`, 'wrote 1 texts for 3; the first that is missing has the id 2'],
    [`''`, 'wrote 0 texts for 3; the first that is missing has the id 1'],
    [`'{"id": 4, "text": "a"}'`, 'wrote a text with the id 4, which it did not receive'],
    [`'{"id": 1, "text": "a"}' '{"id": 1, "text": "a"}'`, 'wrote the text with the id 1 twice'],
    [`'{"id": 2, "text": " "}'`, 'wrote an empty text for the id 2'],
    [`'Loading model'`, 'wrote a line that is not {"id": …, "text": …}: "Loading model"'],
    [`'{"id": "1", "text": "a"}'`, 'wrote a line that is not'],
  ])('is named if it writes %s', async (output, message) => {
    await expect(translate(writing(output)).done).rejects.toMatchObject({
      code: 'ENGINE_ERROR',
      message: expect.stringContaining(`command nllb ${message}`),
    });
  });

  test('is ended at the first wrong line, also if it would never end', async () => {
    await expect(translate(script('trap "" TERM; yes', 'nllb')).done).rejects.toThrow('"y"');
  });
});

describe('the languages of a program that translates', () => {
  test('are those of engines.json, in all combinations', async () => {
    const translator = create(['nllb']);
    expect(await translator.pairs(run)).toHaveLength(6);
    expect(await translator.supports({ from: 'es-MX', to: 'pt' }, run)).toBe(true);
    expect(await translator.supports({ from: 'es-MX', to: 'es' }, run)).toBe(false);
    expect(await translator.supports({ from: 'de', to: 'es' }, run)).toBe(false);
  });

  test('are required', () => {
    expect(() => create(['nllb'], ['en'])).toThrow('command nllb: add "languages" with at least two');
    expect(() => createCommandTranslator({ type: 'command', run: ['nllb'] }, createParts())).toThrow(
      '"languages"',
    );
  });
});
