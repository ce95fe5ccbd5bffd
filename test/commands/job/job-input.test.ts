import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checkInput } from '../../../src/commands/job/job-input.ts';
import { createTestIo } from '../../support/test-io.ts';

const folder = mkdtempSync(join(tmpdir(), 'vloc-input-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SRT = '1\n00:00:01,000 --> 00:00:02,000\nHello\n';
writeFileSync(join(folder, 'talk.mp4'), 'not empty');
writeFileSync(join(folder, 'empty.mp4'), '');
writeFileSync(join(folder, 'talk.mkv'), 'not empty');
writeFileSync(join(folder, 'talk.en.srt'), SRT);
writeFileSync(join(folder, 'broken.srt'), '1\nhello\n');
writeFileSync(join(folder, 'latin1.srt'), Buffer.from([0xe9, 0x0a]));
writeFileSync(
  join(folder, 'lines.json'),
  JSON.stringify([{ index: 1, start_ms: 0, end_ms: 10, text: 'Hi' }]),
);
writeFileSync(join(folder, 'bad.json'), JSON.stringify([{ index: 1, start_ms: 10, end_ms: 10, text: 'Hi' }]));
mkdirSync(join(folder, 'lessons'));
for (const [name, bytes] of [
  ['large.mp4', 1024 ** 3 - 1],
  ['too-large.mp4', 1024 ** 3],
] as const) {
  writeFileSync(join(folder, name), '');
  truncateSync(join(folder, name), bytes);
}

const check = (operand: string, takes: 'video' | 'subtitle', stdin = '') =>
  checkInput(operand, takes, createTestIo({ cwd: folder, stdin }).io);

describe('a video operand', () => {
  it('is a file, named after its stem', async () => {
    expect(await check('talk.mp4', 'video')).toMatchObject({
      ok: true,
      input: { type: 'file', stem: 'talk', bytes: 9 },
    });
  });

  it('is an https address, named after its last segment', async () => {
    const checked = await check('https://example.com/a/My%20Talk.mp4?x=1', 'video');
    expect(checked).toMatchObject({ ok: true, input: { type: 'url', stem: 'My Talk' } });
  });

  it('is the id of an upload', async () => {
    expect(await check('upl_01k9', 'video')).toMatchObject({
      ok: true,
      input: { type: 'upload', id: 'upl_01k9' },
    });
  });

  it.each([
    ['missing.mp4', 'no such file'],
    ['empty.mp4', 'empty'],
    ['lessons', 'folder'],
    ['talk.mkv', 'ffmpeg'],
    ['too-large.mp4', 'under 1 GiB'],
    ['http://example.com/a.mp4', 'https'],
    ['http://127.0.0.1.example.com/a.mp4', 'https'],
    ['https://user:pw@example.com/a.mp4', 'password'],
    ['-', 'stdin'],
  ])('is refused as %s, saying "%s"', async (operand, said) => {
    const checked = await check(operand, 'video');
    expect(checked).toMatchObject({
      ok: false,
      problem: { pointer: operand, detail: expect.stringContaining(said) },
    });
  });

  it('may be at a plain address of this machine, which the service may allow', async () => {
    const url = 'http://127.0.0.1:8080/talk.mp4';
    expect(await check(url, 'video')).toMatchObject({ ok: true, input: { type: 'url', url, stem: 'talk' } });
  });

  it('may be one byte under 1 GiB', async () => {
    expect(await check('large.mp4', 'video')).toMatchObject({ ok: true });
  });
});

describe('a subtitle operand', () => {
  it('is SRT; the language in its name is not doubled in the result', async () => {
    const checked = await check('talk.en.srt', 'subtitle');
    expect(checked).toMatchObject({
      ok: true,
      input: { type: 'lines', stem: 'talk', lines: [{ text: 'Hello' }] },
    });
  });

  it('is a JSON list of lines', async () => {
    expect(await check('lines.json', 'subtitle')).toMatchObject({
      ok: true,
      input: { lines: [{ text: 'Hi' }] },
    });
  });

  it('is stdin', async () => {
    expect(await check('-', 'subtitle', SRT)).toMatchObject({
      ok: true,
      input: { stem: 'stdin', lines: [{ start_ms: 1000 }] },
    });
  });

  it.each([
    ['broken.srt', 'line 1'],
    ['latin1.srt', 'UTF-8'],
    ['bad.json', 'start_ms must be before end_ms'],
  ])('is refused as %s, saying "%s"', async (operand, said) => {
    const checked = await check(operand, 'subtitle');
    expect(checked).toMatchObject({ ok: false, problem: { detail: expect.stringContaining(said) } });
  });
});
