/** `--out -`: the result on stdout and nothing else, paid once however often the command is run. */
import { readdirSync } from 'node:fs';
import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { EXIT_CODES } from '../../../src/base/exit-codes.ts';
import { readBooks } from '../../hosted/books.ts';
import { createAsk } from '../../hosted/caller.ts';
import { openHosted } from '../../hosted/run-hosted.ts';
import { VARIANTS } from '../../hosted/variants.ts';

const TRANSLATE = ['translate', 'talk.srt', '--from', 'en', '--to', 'es', '--out', '-'];
const { done, usage } = EXIT_CODES;

/** The only result of the only job. */
function resultOf({ jobs }: Awaited<ReturnType<typeof openScene>>['hosted']): string {
  const [file] = [...jobs.values()].flatMap(({ files }) => Object.values(files));
  return file?.bytes.toString('utf8') ?? '';
}

const openScene = () => openHosted(VARIANTS.minimal, new Set(), { jobMs: () => 0 });

test('stdout contains only the bytes of the result, and no file remains in the folder', async () => {
  const { hosted, folder, run } = await openScene();
  const before = readdirSync(folder);
  const { code, stdout, stderr } = await run(TRANSLATE);
  expect([code, stderr]).toEqual([done.code, stderr]);
  expect(stdout).toBe(resultOf(hosted));
  expect(stdout).not.toBe('');
  expect(stderr).toContain('talk.srt → es: written to stdout\n');
  expect(stderr).not.toContain('.es.srt');
  expect(readdirSync(folder).sort()).toEqual([...before, 'state'].sort());
});

test('the same command run again pays nothing, and another text in its input is another job', async () => {
  const { hosted, folder, run } = await openScene();
  const first = await run(TRANSLATE);
  const again = await run([...TRANSLATE, '--jobs', '1']);
  expect([again.code, again.stdout]).toEqual([done.code, first.stdout]);
  expect(again.stderr).toBe('talk.srt → es: written to stdout\n');
  expect(readBooks(hosted).jobs).toHaveLength(1);
  await writeFile(join(folder, 'talk.srt'), '1\n00:00:00,000 --> 00:00:01,000\nother\n');
  expect((await run(TRANSLATE)).code).toBe(done.code);
  expect(Object.values(readBooks(hosted).payments)).toEqual([1, 1]);
});

test('each of several texts on stdin is paid once, in whatever order they arrive', async () => {
  const { hosted, run } = await openScene();
  const words = ['translate', '-', '--from', 'en', '--to', 'es', '--out', '-'];
  const text = (word: string) => `1\n00:00:00,000 --> 00:00:01,000\n${word}\n`;
  const results: string[] = [];
  for (const word of ['one', 'two', 'one']) {
    const { code, stdout, stderr } = await run(words, { stdin: text(word) });
    expect(code, stderr).toBe(done.code);
    results.push(stdout);
  }
  expect(results[2]).toBe(results[0]);
  expect(results[1]).not.toBe(results[0]);
  expect(Object.values(readBooks(hosted).payments)).toEqual([1, 1]);
});

test('files that no run can continue are removed', async () => {
  const { folder, run } = await openScene();
  await run(TRANSLATE);
  const root = join(folder, 'state', 'stdout');
  const [old = ''] = readdirSync(root);
  const long = new Date(Date.now() - 8 * 24 * 60 * 60_000);
  await utimes(join(root, old, '.vloc', 'records.db'), long, long);
  await run(['translate', 'talk.srt', '--from', 'en', '--to', 'ca', '--out', '-']);
  expect(readdirSync(root)).toHaveLength(1);
  expect(readdirSync(root)).not.toContain(old);
});

test.each(['download', 'wait'])('`jobs %s` writes the result of one job', async (verb) => {
  const { hosted, run, folder } = await openScene();
  const ask = createAsk(hosted.baseUrl, hosted.account);
  const lines = [{ index: 1, start_ms: 0, end_ms: 1000, text: 'hello' }];
  const request = { subtitle: { type: 'lines', lines }, target_language: 'es' };
  const { json } = await ask('POST', '/v1/subtitle-translations', request);
  const id = `subtitle-translations/${json.id}`;
  const { code, stdout, stderr } = await run(['jobs', verb, id, '--out', '-']);
  expect([code, stderr]).toEqual([done.code, stderr]);
  expect(stdout).toBe(resultOf(hosted));
  expect(stderr).toContain(`${json.id}: written to stdout\n`);
  expect(stderr).not.toContain('.srt');
  expect(readdirSync(join(folder, 'state', 'stdout'))).toEqual([]);
  const before = hosted.requests.length;
  const two = await run(['jobs', verb, id, 'dubbings/other', '--out', '-']);
  expect([two.code, two.stdout]).toEqual([usage.code, '']);
  expect(hosted.requests).toHaveLength(before);
});

test('a job of several files is refused by its kind', async () => {
  const { hosted, run } = await openScene();
  const ask = createAsk(hosted.baseUrl, hosted.account);
  const source = { type: 'url', url: 'https://media.example/talk.mp4' };
  const { json } = await ask('POST', '/v1/audio-separations', { source });
  const { code, stdout, stderr } = await run(['jobs', 'wait', `audio-separations/${json.id}`, '--out', '-']);
  expect([code, stdout]).toEqual([usage.code, '']);
  expect(stderr).toContain('a result of this kind is 2 files');
});

test('a reader that closes the pipe ends the command with exit 0', async () => {
  const { hosted, run } = await openScene();
  const stdout = new Writable({
    autoDestroy: false,
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('closed'), { code: 'EPIPE' })),
  });
  expect((await run(TRANSLATE, { stdout })).code).toBe(done.code);
  expect(readBooks(hosted).jobs).toHaveLength(1);
});
