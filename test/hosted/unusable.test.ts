/** A folder with files of the user in the places of results, where the service returns no more than it must. */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Ended } from '../support/run-main.ts';
import { type HostedScene, openMinimal } from './run-hosted.ts';

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

test("a user's own file at the path of a result fails only its item, is kept, and nothing is paid for it", async () => {
  const scene = await openMinimal();
  const { run, folder, hosted } = scene;
  await mkdir(join(folder, 'in'));
  for (const name of ['good.mp4', 'own.mp4'])
    await copyFile(join(folder, 'talk.mp4'), join(folder, 'in', name));
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
