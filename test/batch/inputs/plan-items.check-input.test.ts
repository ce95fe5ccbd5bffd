import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isNonFileInput, namedFile, otherCandidate } from '../../../src/batch/inputs/candidate.ts';
import { checkInput } from '../../../src/batch/inputs/plan-items.ts';
import { createPlanIo, MP4, SRT } from '../plan/support.ts';

const folder = mkdtempSync(join(tmpdir(), 'check-input-'));

writeFileSync(join(folder, 'talk.mp4'), MP4);
writeFileSync(join(folder, 'talk'), MP4);
writeFileSync(join(folder, 'notes.mp4'), 'not a video');
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
symlinkSync('loop.mp4', join(folder, 'loop.mp4'));

const check = (operand: string, takes: 'video' | 'subtitle', typed = '', seconds: number | null = 61) =>
  checkInput(
    isNonFileInput(operand, takes) ? otherCandidate(operand) : namedFile(operand, folder),
    takes,
    createPlanIo(folder, {
      typed,
      examineVideo: async () => ({ type: 'usable', seconds, preparation: null }),
    }),
  );

describe('a video operand', () => {
  it('is a file, named after its stem', async () => {
    expect(await check('talk.mp4', 'video')).toMatchObject({
      type: 'usable',
      input: { type: 'file', stem: 'talk', bytes: 16, contentType: 'video/mp4', seconds: 61 },
    });
  });

  it('is an https address, named after its last segment', async () => {
    const checked = await check('https://example.com/a/My%20Talk.mp4?x=1', 'video');
    expect(checked).toMatchObject({ type: 'usable', input: { type: 'url', stem: 'My Talk' } });
  });

  it('is the id of an upload', async () => {
    expect(await check('upl_01k9', 'video')).toMatchObject({
      type: 'usable',
      input: { type: 'upload', id: 'upl_01k9' },
    });
  });

  it.each([
    ['missing.mp4', 'no such file'],
    ['ftp://example.com/a.mp4', 'https addresses only'],
    ['s3://bucket/talk-*.mp4', 'https addresses only'],
    ['empty.mp4', 'empty'],
    ['lessons', 'folder'],
    ['loop.mp4', 'link'],
    ['talk.mkv', 'with --convert also MKV'],
    ['notes.mp4', 'not a supported video'],
    ['talk.en.srt', 'vloc translate'],
    ['http://example.com/a.mp4', 'https'],
    ['http://127.0.0.1.example.com/a.mp4', 'https'],
    ['https://user:pw@example.com/a.mp4', 'password'],
    ['-', 'stdin'],
  ])('is refused as %s, saying "%s"', async (operand, said) => {
    const checked = await check(operand, 'video');
    expect(checked).toMatchObject({
      type: expect.stringMatching(/problem|other/),
      detail: expect.stringContaining(said),
    });
  });

  it('may be at a plain address of this machine, which the service may allow', async () => {
    const url = 'http://127.0.0.1:8080/talk.mp4';
    expect(await check(url, 'video')).toMatchObject({
      type: 'usable',
      input: { type: 'url', url, stem: 'talk' },
    });
  });

  it('is recognized by its content, whatever its name', async () => {
    expect(await check('talk', 'video')).toMatchObject({ type: 'usable', input: { stem: 'talk' } });
  });

  it('has the duration that its check has found', async () => {
    expect(await check('talk.mp4', 'video', '', 900)).toMatchObject({
      type: 'usable',
      input: { seconds: 900, preparation: null },
    });
    const refused = { type: 'problem', detail: 'it lasts an hour' } as const;
    const io = createPlanIo(folder, { examineVideo: async () => refused });
    expect(await checkInput(namedFile('talk.mp4', folder), 'video', io)).toEqual(refused);
  });

  it.each([
    ['talk.webm', '1a45dfa3'],
    ['show.flv', '464c5601'],
    ['show.wmv', '3026b2758e66cf11'],
    ['show.ogv', '4f67675300'],
    ['show.ts', `47${'00'.repeat(187)}`.repeat(4)],
    ['camera.m2ts', `0000000047${'00'.repeat(187)}`.repeat(4)],
  ])('is examined in a container that can be converted: %s', async (name, bytes) => {
    writeFileSync(join(folder, name), Buffer.from(bytes, 'hex'));
    const looks: boolean[] = [];
    const io = createPlanIo(folder, {
      examineVideo: async (_path, { isTaken }) => {
        looks.push(isTaken);
        return { type: 'usable', seconds: 1, preparation: null };
      },
    });
    const checked = await checkInput(namedFile(name, folder), 'video', io);
    expect(checked).toMatchObject({ type: 'usable', input: { contentType: 'video/mp4' } });
    expect(looks).toEqual([false]);
  });

  it('is named without the signature of its address, which changes each time', async () => {
    const signed = (signature: string) =>
      `https://bucket.example.com/a.mp4?X-Amz-Date=${signature}&X-Amz-Signature=${signature}`;
    const [one, two] = await Promise.all([check(signed('s3cret'), 'video'), check(signed('other'), 'video')]);
    expect(one).toMatchObject({ input: { name: 'https://bucket.example.com/a.mp4', url: signed('s3cret') } });
    expect(two).toMatchObject({ input: { name: 'https://bucket.example.com/a.mp4' } });
  });
});

describe('a subtitle operand', () => {
  it('is SRT; the language in its name is not repeated in the result', async () => {
    const checked = await check('talk.en.srt', 'subtitle');
    expect(checked).toMatchObject({
      type: 'usable',
      input: { type: 'lines', stem: 'talk', lines: [{ text: 'Hello' }] },
    });
  });

  it('is a JSON list of lines', async () => {
    expect(await check('lines.json', 'subtitle')).toMatchObject({
      type: 'usable',
      input: { lines: [{ text: 'Hi' }] },
    });
  });

  it('is stdin', async () => {
    expect(await check('-', 'subtitle', SRT)).toMatchObject({
      type: 'usable',
      input: { stem: 'stdin', lines: [{ start_ms: 1000 }] },
    });
  });

  it.each([
    ['broken.srt', 'row 2'],
    ['latin1.srt', 'UTF-8'],
    ['bad.json', 'start_ms must be before end_ms'],
    ['talk.mp4', 'vloc recognize'],
  ])('is refused as %s, saying "%s"', async (operand, said) => {
    const checked = await check(operand, 'subtitle');
    expect(checked).toMatchObject({ type: 'other', detail: expect.stringContaining(said) });
  });
});
