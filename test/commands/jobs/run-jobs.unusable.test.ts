/** Folders with files that cannot be used: the rest runs, and everything that counts counts the same. */
import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { ffmpeg } from '../../engines/workspace.ts';
import { createSmallEngines, mediaOf } from '../../service/harness/small-engines.ts';
import type { Ended } from '../../support/run-main.ts';
import { linesOf } from '../support/run-vloc.ts';
import { type MediaDesk, openMediaDesk } from './desk.ts';

const H264 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac'];
const picture = (seconds: number) => ['-f', 'lavfi', '-i', `testsrc=s=64x48:r=5:d=${seconds}`];
const tone = (seconds: number) => ['-f', 'lavfi', '-i', `sine=f=220:r=48000:d=${seconds}`];

/** Writes a video. @returns its bytes */
function addVideo(desk: MediaDesk, name: string, seconds = 1): Buffer {
  const path = join(desk.folder, 'in', name);
  ffmpeg(...picture(seconds), ...tone(seconds), ...H264, path);
  return readFileSync(path);
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
  'in/empty.mp4': /the file is empty/,
  'in/gone.mp4': /a link to a file that does not exist/,
  'in/junk.mp4': /not a supported video/,
  'in/truncated.mp4': /.+/,
  'in/two.mp4': /2 audio tracks; choose one with --audio-track/,
};

async function openFolder(): Promise<MediaDesk> {
  const desk = await openDesk();
  const inputs = join(desk.folder, 'in');
  const whole = addVideo(desk, 'good.mp4');
  writeFileSync(join(inputs, 'truncated.mp4'), whole.subarray(0, Math.floor(whole.length / 2)));
  const maps = ['-map', '0:v', '-map', '1:a', '-map', '2:a'];
  ffmpeg(...picture(1), ...tone(1), ...tone(1), ...maps, ...H264, join(inputs, 'two.mp4'));
  writeFileSync(join(inputs, 'junk.mp4'), 'not a video at all');
  writeFileSync(join(inputs, 'empty.mp4'), '');
  symlinkSync('nowhere.mp4', join(inputs, 'gone.mp4'));
  writeFileSync(join(inputs, 'notes.txt'), 'no input');
  return desk;
}

const WORDS = ['recognize', 'in', '--out', 'out', '--from', 'en'];

interface Accounts {
  readonly total: number;
  readonly done: number;
  /** Reasons by label. */
  readonly failed: Readonly<Record<string, string>>;
}

interface Failing {
  readonly label?: string;
  readonly input?: string;
  readonly message: string;
}

const reasonsOf = (all: readonly Failing[]) =>
  Object.fromEntries(all.map(({ label, input, message }) => [label ?? input ?? '', message]));

/** What the events of a run say. */
function accountsOfRun(ended: Ended): Accounts {
  const lines = linesOf(ended.stdout);
  const summary = lines.at(-1);
  const failed = lines.filter(({ type }) => type === 'failed');
  expect(summary).toMatchObject({ type: 'summary', failed: failed.length, exit_code: ended.code });
  return { total: summary.jobs, done: summary.done, failed: reasonsOf(failed) };
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
  const reasons = failed.map(({ label, error }: Item) => ({ label, message: error?.message ?? '' }));
  for (const { label, message } of reasons) {
    // Names are those below the operand.
    expect(junit).toContain(`name="${label.replace('in/', '')}"`);
    expect(junit).toContain(message.slice(0, 20));
  }
  return { total, done: counts.done, failed: reasonsOf(reasons) };
}

describe('a folder with unusable files', () => {
  it('runs the rest, and all its counts agree with each other and with --dry-run', async () => {
    const desk = await openFolder();
    const planned = await desk.vloc([...WORDS, '--dry-run', '-o', 'json']);
    expect(planned.code).toBe(3);
    const { jobs, not_usable, items } = JSON.parse(planned.stdout);
    expect([jobs, not_usable, items.length]).toEqual([1, 5, 6]);
    expect(planned.stderr).toContain('5 of 6 items cannot be used; the others would run');
    expect(desk.count('createUpload')).toBe(0);

    const ran = await desk.vloc([...WORDS, '-o', 'ndjson']);
    expect(ran.code, ran.stderr).toBe(3);
    const run = accountsOfRun(ran);
    expect(run).toMatchObject({ total: 6, done: 1 });
    expect(Object.keys(run.failed).toSorted()).toEqual(Object.keys(REASONS));
    for (const [label, reason] of Object.entries(REASONS)) expect(run.failed[label]).toMatch(reason);
    const problems = items.flatMap(({ input, problem }: { input: string; problem: string | null }) =>
      problem === null ? [] : [[input, problem]],
    );
    expect(Object.fromEntries(problems)).toEqual(run.failed);
    expect(desk.count('createUpload')).toBe(1);
    expect(ran.stderr).toContain('5 of 6 items failed');
    expect(ran.stderr).toContain('Skipped 1 file that is not a supported video: in/notes.txt');
    expect(ran.stderr).not.toContain('not started');
    expect(await accountsOfFolder(desk)).toEqual(run);

    // Looked at again, they fail for the same reasons; nothing is sent for them, and no success is claimed.
    const retried = await desk.vloc(['batch', 'retry', 'out', '-o', 'ndjson']);
    expect(retried.code, retried.stderr).toBe(2);
    expect(accountsOfRun(retried)).toEqual({ total: 5, done: 0, failed: run.failed });
    expect(desk.count('createUpload')).toBe(1);

    // Files that are named: one whose track must be chosen fails alone, others are an error before anything is sent.
    const named = ['recognize', 'in/good.mp4', 'in/two.mp4', '--from', 'en', '--out', 'named'];
    const alone = await desk.vloc(named);
    expect(alone.code, alone.stderr).toBe(3);
    expect(alone.stderr).toContain('2 audio tracks; choose one with --audio-track');
    expect(readFileSync(join(desk.folder, 'named', 'good.en.srt'), 'utf8')).toContain('-->');
    const refused = await desk.vloc([...named, 'in/junk.mp4', '--fresh', '--clobber']);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('2 problems found; nothing was sent');
    expect(desk.count('createSubtitleRecognition')).toBe(2);
  });

  it('runs a file that was fixed since, by the same command and by a retry', async () => {
    const desk = await openDesk();
    for (const name of ['empty.mp4', 'junk.mp4']) writeFileSync(join(desk.folder, 'in', name), name.slice(5));
    expect(accountsOfRun(await desk.vloc([...WORDS, '-o', 'ndjson']))).toMatchObject({ total: 2, done: 0 });

    addVideo(desk, 'junk.mp4');
    const again = await desk.vloc([...WORDS, '-o', 'ndjson']);
    expect([again.code, accountsOfRun(again)]).toMatchObject([3, { total: 2, done: 1 }]);

    addVideo(desk, 'empty.mp4', 2);
    const retried = await desk.vloc(['batch', 'retry', 'out', '-o', 'ndjson']);
    expect([retried.code, accountsOfRun(retried)]).toEqual([0, { total: 1, done: 1, failed: {} }]);
    expect(await accountsOfFolder(desk)).toEqual({ total: 2, done: 2, failed: {} });
    expect(desk.count('createSubtitleRecognition')).toBe(2);
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

it('a file of a folder that only the service finds unusable is counted the same way', async () => {
  const desk = await openMediaDesk({
    engines: {
      ...createSmallEngines(),
      async inspect(file) {
        if (statSync(file).size === cut.length) throw new JobFailure('MEDIA_CORRUPT', 'it cannot be decoded');
        return mediaOf(1);
      },
    },
  });
  await mkdir(join(desk.folder, 'in'));
  addVideo(desk, 'good.mp4');
  const cut = addVideo(desk, 'cut.mp4', 2);
  const ran = await desk.vloc([...WORDS, '-o', 'ndjson']);
  const run = accountsOfRun(ran);
  expect([ran.code, run.total, Object.keys(run.failed)]).toEqual([3, 2, ['in/cut.mp4']]);
  expect(await accountsOfFolder(desk)).toEqual(run);
  const refused = await desk.vloc(['batch', 'retry', 'out']);
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('--all')]);
  const retried = await desk.vloc(['batch', 'retry', 'out', '--all', '-o', 'ndjson']);
  expect(accountsOfRun(retried).failed).toEqual(run.failed);
});
