/** `--mark`, `--provenance` and `verify` of a localization in one job. What a mark is: `media/export/mark`. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { hashFile } from '../../../src/base/hash-file.ts';
import { provenancePath, readProvenance } from '../../../src/batch/provenance-file.ts';
import { ffmpeg } from '../../engines/workspace.ts';
import { startTalk } from './titled-talk.ts';

const FILE = 'talk.es.provenance.json';

test('a delivered video stays as it is, byte by byte, and gets its provenance, which `verify` compares; a mark is a change', async () => {
  const { localize, run, at, jobs } = await startTalk();
  const { stderr } = await localize('--mark', '--provenance', '--dry-run');
  expect(stderr).toContain('talk.mp4: the delivered video is marked as machine-made on this machine, free.');
  expect(stderr).toContain(
    '{stem}.{lang}.provenance.json is written beside each result on this machine, free.',
  );
  const asked = await localize('--provenance');
  expect(asked.code, asked.stderr).toBe(0);
  expect(readFileSync(at('talk.es.mp4')).equals(readFileSync(at('talk.mp4')))).toBe(true);
  const text = readFileSync(at(FILE), 'utf8');
  expect(await readProvenance(at('talk.es.mp4'))).toMatchObject({
    source: { name: 'talk.mp4', sha256: await hashFile(at('talk.mp4')) },
    result: { name: 'talk.es.mp4', sha256: await hashFile(at('talk.es.mp4')) },
    ...{ synthetic_speech: true, from: null, to: ['es'], edited: [] },
    // A service does not say which engines it has.
    steps: ['recognize', 'translate', 'speak'].map((step) => ({ step, by: 'machine', engine: null })),
  });
  const refused = await localize('--mark', '--provenance');
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('with other options: none → mark'),
  ]);
  expect(readFileSync(at(FILE), 'utf8')).toBe(text);

  writeFileSync(at('changed.mp4'), Buffer.concat([readFileSync(at('talk.es.mp4')), Buffer.alloc(8)]));
  copyFileSync(at(FILE), provenancePath(at('changed.mp4')));
  const others = await run(['verify', 'changed.mp4', 'talk.mp4', '--output', 'json']);
  expect(others.code).toBe(3);
  expect(JSON.parse(others.stdout).data).toMatchObject([
    { file: 'changed.mp4', status: 'changed', provenance: { to: ['es'] } },
    { file: 'talk.mp4', status: 'incomplete', tag: null, provenance: null },
  ]);
  const unread = await run(['verify', FILE, 'no.mp4']);
  expect([unread.code, unread.stderr]).toEqual([2, expect.stringContaining('2 files cannot be read')]);
  expect(await jobs()).toHaveLength(1);
});

test('--provenance never replaces a file of the user, and the result is there', async () => {
  const { localize, at } = await startTalk();
  writeFileSync(at(FILE), 'mine');
  const first = await localize('--provenance');
  expect(first).toMatchObject({ code: 2, stderr: expect.stringContaining(FILE) });
  expect(readFileSync(at(FILE), 'utf8')).toBe('mine');
  expect(readFileSync(at('talk.es.mp4')).equals(readFileSync(at('talk.mp4')))).toBe(true);
});

test('`verify` escapes what others have written into a tag, and waits for no pipe', async () => {
  const { run, at } = await startTalk();
  const mark = { synthetic_speech: true, from: null, to: ['es'], engines: null, date: '', tool: '\u001b[2J' };
  const comment = `x [vloc-mark ${JSON.stringify(mark)}]`;
  ffmpeg('-i', at('talk.mp4'), '-c', 'copy', '-metadata', `comment=${comment}`, at('bad.mp4'));
  execFileSync('mkfifo', [provenancePath(at('bad.mp4'))]);
  const { code, stdout } = await run(['verify', 'bad.mp4']);
  expect(code).toBe(3);
  expect(stdout).toContain('made with');
  expect(stdout).not.toContain('\u001b');
});
