import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contextRows } from '../../../../src/engines/backends/llama/translate.ts';
import { createModelMemory } from '../../../../src/engines/backends/model-memory.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import { createTiny, RUNTIME, scriptedRuntime, task, tinyModel, work } from './llama.ts';

/** Processes with the worker of this process, and their memory in bytes. */
function workers(): { readonly pid: number; readonly bytes: number }[] {
  const rows = execFileSync('ps', ['-o', 'pid=,rss=,args=', '--ppid', String(process.pid)], {
    encoding: 'utf8',
  });
  return rows
    .split('\n')
    .filter((row) => row.includes('llama/worker.ts'))
    .map((row) => row.trim().split(/\s+/))
    .map(([pid, kilobytes]) => ({ pid: Number(pid), bytes: Number(kilobytes) * 1024 }));
}

test('the context of a cue shows where it is in a sentence that is spoken as one', () => {
  const texts = ['Yes.', 'He was not an', 'ill disposed', 'young man.', 'No.'].map((text, at) => {
    const source = { text, durationMs: 1000 };
    return at === 1 || at === 2 ? { ...source, continues: true } : source;
  });
  expect(contextRows(texts, 2, 2)).toEqual(['Yes.', 'He was not an … young man.', 'No.']);
  expect(contextRows(texts, 1, 1)).toEqual(['Yes.', '… ill disposed']);
  expect(contextRows(texts, 4, 2)).toEqual(['ill disposed young man.']);
  expect(contextRows(texts, 0, 1)).toEqual(['He was not an']);
});

describe('an entry of type llama', () => {
  test('names the file of a model that is missing', async () => {
    await expect(createTiny('/nowhere/model.gguf')).rejects.toMatchObject({
      message: 'llama model: "model" in engines.json does not exist (/nowhere/model.gguf)',
      permanent: true,
    });
  });

  test('names a file that is another format', async () => {
    const path = join(makeFolder(), 'page.gguf');
    writeFileSync(path, '<html>');
    await expect(createTiny(path)).rejects.toThrow(
      `llama page: ${path} is not a GGUF file; download the model again`,
    );
  });

  test('says how to install node-llama-cpp where it is missing', async () => {
    const runtime = makeFolder();
    await expect(createTiny(tinyModel(), { runtime })).rejects.toThrow(
      /node-llama-cpp 3\.\d+\.\d+ is not installed in .*; install it with `vloc models install`/,
    );
  });
});

describe('a translation that is too long for its cue', () => {
  // 2 s have room for 34 characters.
  const LONG = 'Me alegra muchísimo poder verte por aquí';
  const SHORT = 'Me alegra verte';

  /** Translates one cue of 2 s between two others, as often as a test asks. */
  async function open(answers: readonly string[], prompt?: string) {
    const { runtime, prompts } = scriptedRuntime(answers);
    const translator = await createTiny(tinyModel(), {
      runtime,
      ...(prompt === undefined ? {} : { prompt }),
    });
    const translate = async () => {
      const { texts, ...pair } = task('♪', 'Glad to see you at 24', '♪');
      const [, translated] = await translator.translate({ ...pair, texts }, work());
      return translated;
    };
    return { translate, prompts };
  }

  test('is requested once more, and the shorter one is used unless it has a fault of its own', async () => {
    const rows = [
      ['fits', [SHORT], SHORT, 1],
      ['is shorter the second time', [`${LONG} 24`, `${SHORT} 24`], `${SHORT} 24`, 2],
      ['is shorter, and still too long', [`${LONG} a las 24`, `${LONG} 24`], `${LONG} 24`, 2],
      ['is longer', [LONG, `${LONG} otra vez`], LONG, 2],
      ['is empty', [LONG, '<think>Too long.</think>'], LONG, 2],
      ['is in another script', [LONG, '很高兴见到你'], LONG, 2],
      ['repeats itself', [`${LONG} ${LONG}`, 'mucho mucho mucho mucho mucho'], `${LONG} ${LONG}`, 2],
      ['loses a number', [`${LONG} 24`, SHORT], `${LONG} 24`, 2],
    ] as const;
    const { translate, prompts } = await open(rows.flatMap(([, answers]) => answers));
    let before = 0;
    for (const [what, , expected, requests] of rows) {
      expect(await translate(), what).toBe(expected);
      expect(prompts().length - before, what).toBe(requests);
      before += requests;
    }
  });

  test('is asked for once more with the limit and without its neighbours, by any prompt', async () => {
    const { translate, prompts } = await open([LONG, SHORT], 'Say in {to}: {text}');
    await translate();
    expect(prompts()).toEqual([
      'Say in Spanish: Glad to see you at 24',
      expect.stringMatching(/^Use at most 34 characters[^\n]*\n\nSay in Spanish: Glad to see you at 24$/),
    ]);
  });
});

describe.skipIf(RUNTIME === null)('a GGUF model (needs: sh .ci/llama)', () => {
  test('is loaded once for all jobs, whose memory does not grow; a cue that loses its tags fails after four requests', async () => {
    const translator = await createTiny(tinyModel('Hola'));
    const run = work();
    expect(await translator.translate(task('Hello', '♪', 'Good day'), run)).toEqual(['Hola', '♪', 'Hola']);
    expect(run.reports.map(({ fraction }) => fraction)).toEqual([1 / 3, 2 / 3, 1]);
    const [first] = workers();
    for (let job = 0; job < 5; job += 1) await translator.translate(task('one', 'two'), work());
    const [last] = workers();
    expect(last?.pid).toBe(first?.pid);
    // 5 more contexts of 4,096 tokens would take 10 MB.
    expect((last?.bytes ?? 0) - (first?.bytes ?? 0)).toBeLessThan(8e6);
    await expect(translator.translate(task('<i>Hello</i>'), work())).rejects.toThrow(
      'llama tiny: the translation of a cue lost or changed a tag after 4 requests ("<i>Hello</i>"); use a larger model, or correct the cue',
    );
  });

  test('that needs more memory than there is is not loaded', async () => {
    const memory = createModelMemory(() => 500e6);
    const translator = await createTiny(tinyModel('Hola'), { memoryMib: 1_000 }, { memory });
    await expect(translator.translate(task('Hello'), work())).rejects.toMatchObject({
      message: expect.stringMatching(/^llama tiny needs about 1\.0 GB of memory, and 0\.5 GB are available;/),
      permanent: true,
    });
    expect(workers()).toEqual([]);
  });
});
