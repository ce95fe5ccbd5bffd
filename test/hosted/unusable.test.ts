/** Folders with files that cannot be used, where the service returns no more than it must. */
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Ended, type HostedScene, openHosted } from './run-hosted.ts';
import { VARIANTS } from './variants.ts';

/** A folder with one video and three files that cannot be used; none of them can be measured without ffprobe. */
async function open(): Promise<HostedScene> {
  const scene = await openHosted(VARIANTS.minimal, new Set(), { jobMs: () => 0 });
  const inputs = join(scene.folder, 'in');
  await mkdir(inputs);
  await writeFile(join(inputs, 'good.mp4'), await readFile(join(scene.folder, 'talk.mp4')));
  await writeFile(join(inputs, 'junk.mp4'), 'not a video');
  await symlink('loop.mp4', join(inputs, 'loop.mp4'));
  execFileSync('mkfifo', [join(inputs, 'pipe.mp4')]);
  return scene;
}

const UNUSABLE = ['in/junk.mp4', 'in/loop.mp4', 'in/pipe.mp4'];

interface Line {
  readonly type: string;
  readonly input: string;
  readonly message: string;
}

function failedOf({ stdout, stderr, code }: Ended): Record<string, string> {
  const lines: Line[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const failed = lines.filter(({ type }) => type === 'failed');
  expect(lines.at(-1), stderr).toMatchObject({ type: 'summary', failed: failed.length, exit_code: code });
  return Object.fromEntries(failed.map(({ input, message }) => [input, message]));
}

async function failedInFolder({ run }: HostedScene): Promise<Record<string, string>> {
  const { stdout } = await run(['batch', 'status', 'out', '--all', '-o', 'json']);
  type Item = { label: string; state: string; error: { message: string } | null };
  const items: Item[] = JSON.parse(stdout).items;
  const failed = items.filter(({ state }) => state === 'failed');
  return Object.fromEntries(
    failed.map(({ label, error }) => [label.replace(/ → .*/, ''), error?.message ?? '']),
  );
}

test.each([
  ['in one job', []],
  ['in stages', ['--stop-after', 'translate']],
])('the rest of a folder is localized %s, once, and all counts agree', async (_, stages) => {
  const scene = await open();
  const { run, folder, hosted } = scene;
  const words = ['localize', 'in', '--to', 'es', '--from', 'en', '--out', 'out', '-o', 'ndjson', ...stages];
  const ran = await run(words);
  expect([ran.code, ran.stderr]).toEqual([3, ran.stderr]);
  const failed = failedOf(ran);
  expect(Object.keys(failed).toSorted()).toEqual(UNUSABLE);
  expect(await failedInFolder(scene)).toEqual(failed);
  const jobs = hosted.jobs.size;
  expect(jobs).toBe(stages.length === 0 ? 1 : 2);
  const made = stages.length === 0 ? ['out', 'good.es.mp4'] : ['in', 'good.es.srt'];
  expect(await readdir(join(folder, made[0] ?? ''))).toContain(made[1]);

  expect(failedOf(await run(words))).toEqual(failed);
  expect(hosted.jobs.size).toBe(jobs);
  // Two of them are gone, and one is fixed.
  for (const name of UNUSABLE) await rm(join(folder, name));
  await writeFile(join(folder, 'in/junk.mp4'), await readFile(join(folder, 'talk.mp4')));
  const fixed = await run(words);
  expect([fixed.code, fixed.stderr]).toEqual([0, fixed.stderr]);
  expect(await failedInFolder(scene)).toEqual({});
  expect(hosted.jobs.size).toBe(2 * jobs);
});

test("a user's own file at the path of a result fails only its item, is kept, and nothing is paid for it", async () => {
  const scene = await open();
  const { run, folder, hosted } = scene;
  for (const name of UNUSABLE) await rm(join(folder, name));
  await writeFile(join(folder, 'in/own.mp4'), await readFile(join(folder, 'talk.mp4')));
  await mkdir(join(folder, 'out'));
  await writeFile(join(folder, 'out/own.es.mp4'), 'mine');
  const words = ['localize', 'in', '--to', 'es', '--out', 'out', '-o', 'ndjson'];
  const ran = await run(words);
  expect([ran.code, ran.stderr]).toEqual([3, ran.stderr]);
  const failed = failedOf(ran);
  expect(failed['in/own.mp4']).toMatch(/own\.es\.mp4: exists; --clobber replaces it, --skip-existing/);
  expect(await failedInFolder(scene)).toEqual(failed);
  expect(hosted.jobs.size).toBe(1);

  // A video that was replaced since its job was made gets a new one, because the old result is ours.
  await writeFile(
    join(folder, 'in/good.mp4'),
    `${await readFile(join(folder, 'talk.mp4'), 'latin1')} and more`,
  );
  const changed = await run(words);
  expect([changed.code, changed.stderr]).toEqual([3, changed.stderr]);
  expect(Object.keys(failedOf(changed))).toEqual(['in/own.mp4']);
  expect(await readFile(join(folder, 'out/own.es.mp4'), 'utf8')).toBe('mine');
  expect(hosted.jobs.size).toBe(2);

  const skipped = await run([...words, '--skip-existing']);
  expect([skipped.code, skipped.stderr]).toEqual([0, skipped.stderr]);
  expect(await failedInFolder(scene)).toEqual({});
  expect(hosted.jobs.size).toBe(2);
});
