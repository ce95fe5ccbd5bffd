/** Folders with files that cannot be used: the rest runs, and everything that counts counts the same. */
import { symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSmallEngines, mediaOf } from '../../service/harness/small-engines.ts';
import type { Ended } from '../../support/run-main.ts';
import { linesOf } from '../support/run-vloc.ts';
import { type MediaDesk, openMediaDesk } from './desk.ts';

/** Writes subtitles that say their name: the same lines would come from the memory. */
function addSubtitles(desk: MediaDesk, name: string): void {
  writeFileSync(join(desk.folder, 'in', name), `1\n00:00:00,000 --> 00:00:01,000\n${name}\n`);
}

/** With a service that need not read media: what it is sent can be used. */
async function openDesk(): Promise<MediaDesk> {
  const engines = { ...createSmallEngines(), inspect: async () => mediaOf(1) };
  const desk = await openMediaDesk({ engines });
  await mkdir(join(desk.folder, 'in'));
  return desk;
}

/** Why each file of the folder cannot be used. */
const REASONS: Readonly<Record<string, RegExp>> = {
  'in/empty.srt → es': /the file is empty/,
  'in/gone.srt → es': /a link to a file that does not exist/,
  'in/junk.srt → es': /not usable as subtitles/,
};

async function openFolder(): Promise<MediaDesk> {
  const desk = await openDesk();
  const inputs = join(desk.folder, 'in');
  addSubtitles(desk, 'good.srt');
  writeFileSync(join(inputs, 'junk.srt'), 'not subtitles at all');
  writeFileSync(join(inputs, 'empty.srt'), '');
  symlinkSync('nowhere.srt', join(inputs, 'gone.srt'));
  writeFileSync(join(inputs, 'notes.txt'), 'no input');
  return desk;
}

const WORDS = ['translate', 'in', '--out', 'out', '--from', 'en', '--to', 'es'];

interface Accounts {
  readonly total: number;
  readonly done: number;
  /** Reasons by label. */
  readonly failed: Readonly<Record<string, string>>;
}

/** The label of an input in this language; null if the job has none. */
const labelOf = (input: string, language: string | null) =>
  language === null ? input : `${input} → ${language}`;

/** What the events of a run say. */
function accountsOfRun(ended: Ended): Accounts {
  const lines = linesOf(ended.stdout);
  const summary = lines.at(-1);
  const failed = lines.filter(({ type }) => type === 'failed');
  expect(summary).toMatchObject({ type: 'summary', failed: failed.length, exit_code: ended.code });
  const reasons = failed.map(({ input, target_language: language, message }) => [
    ...[labelOf(input, language), message],
  ]);
  return { total: summary.jobs, done: summary.done, failed: Object.fromEntries(reasons) };
}

/** What the status and reports say; they must agree with each other. */
async function accountsOfFolder({ vloc }: MediaDesk): Promise<Accounts> {
  const status = await vloc(['batch', 'status', 'out', '--all', '-o', 'json']);
  const report = JSON.parse((await vloc(['batch', 'report', 'out', '--format', 'json'])).stdout);
  const junit = (await vloc(['batch', 'report', 'out', '--format', 'junit'])).stdout;
  const { items, counts } = JSON.parse(status.stdout);
  expect([report.items, report.counts]).toEqual([items, counts]);
  type Item = { label: string; state: string; error: { message: string } | null };
  const failed = items.filter(({ state }: Item) => state === 'failed');
  const total = items.length;
  expect(counts).toMatchObject({ done: total - failed.length, failed: failed.length });
  expect(junit).toContain(`tests="${total}" failures="${failed.length}"`);
  expect(status.code).toBe(failed.length === 0 ? 0 : 3);
  const reasons = failed.map(({ label, error }: Item) => [label, error?.message ?? '']);
  for (const [label, message] of reasons) {
    // Names are those below the operand.
    expect(junit).toContain(`name="${label.replace('in/', '')}"`);
    expect(junit).toContain(message.slice(0, 20));
  }
  return { total, done: counts.done, failed: Object.fromEntries(reasons) };
}

describe('a folder with unusable files', () => {
  it('runs the rest, and all its counts agree with each other and with --dry-run', async () => {
    const desk = await openFolder();
    const planned = await desk.vloc([...WORDS, '--dry-run', '-o', 'json']);
    expect(planned.code).toBe(3);
    const { jobs, not_usable, items } = JSON.parse(planned.stdout);
    expect([jobs, not_usable, items.length]).toEqual([1, 3, 4]);
    expect(planned.stderr).toContain('3 of 4 items cannot be used; the others would run');
    expect(desk.count('createSubtitleTranslation')).toBe(0);

    const ran = await desk.vloc([...WORDS, '-o', 'ndjson']);
    expect(ran.code, ran.stderr).toBe(3);
    const run = accountsOfRun(ran);
    expect(run).toMatchObject({ total: 4, done: 1 });
    expect(Object.keys(run.failed).toSorted()).toEqual(Object.keys(REASONS));
    for (const [label, reason] of Object.entries(REASONS)) expect(run.failed[label]).toMatch(reason);
    type Planned = { input: string; target_language: string; problem: string | null };
    const problems = items.flatMap(({ input, target_language: language, problem }: Planned) =>
      problem === null ? [] : [[labelOf(input, language), problem]],
    );
    expect(Object.fromEntries(problems)).toEqual(run.failed);
    expect(desk.count('createSubtitleTranslation')).toBe(1);
    expect(ran.stderr).toContain('3 of 4 items failed');
    expect(ran.stderr).toContain('Skipped 1 file that is not a subtitle file: in/notes.txt');
    expect(ran.stderr).not.toContain('not started');
    expect(await accountsOfFolder(desk)).toEqual(run);

    // Looked at again, they fail for the same reasons; nothing is sent for them, and no success is claimed.
    const retried = await desk.vloc(['batch', 'retry', 'out', '-o', 'ndjson']);
    expect(retried.code, retried.stderr).toBe(2);
    expect(accountsOfRun(retried)).toEqual({ total: 3, done: 0, failed: run.failed });
    expect(desk.count('createSubtitleTranslation')).toBe(1);
  });

  it('runs a file that was fixed since, by the same command and by a retry', async () => {
    const desk = await openDesk();
    for (const name of ['a.srt', 'b.srt']) writeFileSync(join(desk.folder, 'in', name), 'junk');
    expect(accountsOfRun(await desk.vloc([...WORDS, '-o', 'ndjson']))).toMatchObject({ total: 2, done: 0 });

    addSubtitles(desk, 'a.srt');
    const again = await desk.vloc([...WORDS, '-o', 'ndjson']);
    expect([again.code, accountsOfRun(again)]).toMatchObject([3, { total: 2, done: 1 }]);

    addSubtitles(desk, 'b.srt');
    const retried = await desk.vloc(['batch', 'retry', 'out', '-o', 'ndjson']);
    expect([retried.code, accountsOfRun(retried)]).toEqual([0, { total: 1, done: 1, failed: {} }]);
    expect(await accountsOfFolder(desk)).toEqual({ total: 2, done: 2, failed: {} });
    expect(desk.count('createSubtitleTranslation')).toBe(2);
  });

  it('without any usable file ends with exit code 2, sends nothing, and is in the record', async () => {
    const desk = await openDesk();
    for (const name of ['a.mp4', 'b.mov']) writeFileSync(join(desk.folder, 'in', name), 'junk');
    const ran = await desk.vloc(['recognize', 'in', '--out', 'out'], {
      env: { VLOC_KEY: '', VLOC_SECRET: '' },
    });
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain('2 problems found; nothing was sent');
    expect(ran.stdout).toMatch(/in\/a\.mp4 .*failed .*NOT_USABLE/);
    expect((await accountsOfFolder(desk)).failed).toEqual({
      'in/a.mp4': expect.stringContaining('not a supported video'),
      'in/b.mov': expect.stringContaining('not a supported video'),
    });
  });
});
