/** Runs again after results or inputs were lost, changed or renamed. */
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startVloc, type VlocScene } from '../support/run-vloc.ts';

const SRT = (text: string) => `1\n00:00:00,000 --> 00:00:01,000\n${text}\n`;
const COMMAND = ['translate', 'subs', '--from', 'en', '--to', 'es', '--out', 'out'];
const RETENTION_MS = 7 * 24 * 60 * 60_000;

/** A folder of subtitles that has been translated once. */
async function translated(...names: string[]): Promise<VlocScene> {
  const vloc = await startVloc();
  await write(vloc, ...names);
  const first = await vloc.run(COMMAND);
  expect(first.code, first.stderr).toBe(0);
  return vloc;
}

async function write({ folder }: VlocScene, ...names: string[]): Promise<void> {
  await mkdir(join(folder, 'subs'), { recursive: true });
  for (const name of names) await writeFile(join(folder, 'subs', name), SRT(name));
}

async function jobCount({ caller }: VlocScene): Promise<number> {
  return (await caller.get('/v1/subtitle-translations?limit=50')).json.data.length;
}

describe('a result that is gone here', () => {
  it('counts as done with --skip-done: nothing is asked for, and a new input runs alone', async () => {
    const vloc = await translated('a.srt', 'b.srt');
    await rm(join(vloc.folder, 'out', 'a.es.srt'));
    const again = await vloc.run([...COMMAND, '--skip-done', '-o', 'json'], {
      env: { VLOC_BASE_URL: 'https://127.0.0.1:1/v1' },
    });
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).toContain(
      '1 item was downloaded by an earlier run; counted as done (--skip-done).\n',
    );
    expect(again.stderr).toContain('Nothing to do: all 2 items are done.');
    const { data } = JSON.parse(again.stdout);
    expect(data).toMatchObject([
      { input: 'subs/a.srt', status: 'succeeded', files: [], error: null },
      { input: 'subs/b.srt', status: 'succeeded', files: [{ skipped: true }] },
    ]);
    await write(vloc, 'c.srt');
    const more = await vloc.run([...COMMAND, '--skip-done']);
    expect(more.code, more.stderr).toBe(0);
    expect(await jobCount(vloc)).toBe(3);
  });
});

describe('an input that has changed', () => {
  it('keeps a result that the user has edited, until --clobber', async () => {
    const vloc = await translated('a.srt');
    const result = join(vloc.folder, 'out', 'a.es.srt');
    const made = await readFile(result, 'utf8');
    // The same size: only the hash shows the edit.
    const edited = made.replace('A.SRT', 'B.SRT');
    await writeFile(result, edited);
    await writeFile(join(vloc.folder, 'subs', 'a.srt'), SRT('another text'));
    const again = await vloc.run(COMMAND);
    expect(again.code, again.stderr).toBe(2);
    expect(again.stderr).toContain('its result was edited');
    expect(await readFile(result, 'utf8')).toBe(edited);
    expect(await jobCount(vloc)).toBe(1);
    const forced = await vloc.run([...COMMAND, '--clobber']);
    expect(forced.code, forced.stderr).toBe(0);
    expect(await readFile(result, 'utf8')).toContain('ANOTHER TEXT');
  });
});

describe('an input that was renamed', () => {
  const renameInput = ({ folder }: VlocScene, from: string, to: string) =>
    rename(join(folder, 'subs', from), join(folder, 'subs', to));
  const readResult = ({ folder }: VlocScene, name: string) => readFile(join(folder, 'out', name), 'utf8');

  it('keeps its job: the result is copied to the new name, and the old one stays', async () => {
    const vloc = await translated('a.srt');
    await renameInput(vloc, 'a.srt', 'z.srt');
    // The service no longer has the job.
    vloc.clock.advance(RETENTION_MS + 60_000);
    const plan = await vloc.run([...COMMAND, '--dry-run', '-o', 'json']);
    expect(JSON.parse(plan.stdout)).toMatchObject({ jobs: 0, continued: 1 });
    const again = await vloc.run(COMMAND);
    expect(again.code, again.stderr).toBe(0);
    expect(await readResult(vloc, 'z.es.srt')).toBe(await readResult(vloc, 'a.es.srt'));
    expect(vloc.engines.begun).toHaveLength(1);
    const report = await vloc.run(['batch', 'report', 'out', '-o', 'json']);
    expect(JSON.parse(report.stdout).items).toMatchObject([
      { label: 'subs/z.srt → es', state: 'done', files: [{ path: join(vloc.folder, 'out', 'z.es.srt') }] },
    ]);
  });

  it('gets the result of its job, not the edited file of the old name', async () => {
    const vloc = await translated('a.srt');
    await writeFile(join(vloc.folder, 'out', 'a.es.srt'), 'edited');
    await renameInput(vloc, 'a.srt', 'z.srt');
    const again = await vloc.run(COMMAND);
    expect(again.code, again.stderr).toBe(0);
    expect(await readResult(vloc, 'z.es.srt')).toContain('A.SRT');
    expect(await readResult(vloc, 'a.es.srt')).toBe('edited');
    expect(await jobCount(vloc)).toBe(1);
  });

  it('gets a new job if the earlier name is still there, or if the options differ', async () => {
    const vloc = await translated('a.srt');
    await copyFile(join(vloc.folder, 'subs', 'a.srt'), join(vloc.folder, 'subs', 'b.srt'));
    // What is remembered of the first file makes the job of its copy unnecessary.
    expect((await vloc.run([...COMMAND, '--memory', 'other.db'])).code).toBe(0);
    expect(await jobCount(vloc)).toBe(2);
    await renameInput(vloc, 'b.srt', 'z.srt');
    const other = [...COMMAND.slice(0, 2), '--from', 'fr', ...COMMAND.slice(4), '--include', 'z.srt'];
    const again = await vloc.run(other);
    expect(again.code, again.stderr).toBe(0);
    expect(await jobCount(vloc)).toBe(3);
  });
});
