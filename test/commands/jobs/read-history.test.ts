import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readLog } from '../../../src/batch/records/append-log.ts';
import { startVloc } from '../support/run-vloc.ts';

const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhello\n';
const into = (folder: string, ...inputs: string[]) => [
  ...['translate', ...inputs, '--from', 'en', '--to', 'es', '--out', folder],
];

/** A batch that was run into `out`, which was moved since, and a count of what is asked of the service from then on. */
async function startMoved() {
  const requests: string[] = [];
  const vloc = await startVloc({
    faults: {
      before: async ({ method, target }) => {
        requests.push(`${method} ${target}`);
        return null;
      },
      after: async (_request, answer) => answer,
    },
  });
  for (const name of ['a', 'b', 'c']) await writeFile(join(vloc.folder, `${name}.srt`), SRT + name);
  expect((await vloc.run(into('out', 'a.srt', 'b.srt'))).code).toBe(0);
  await mkdir(join(vloc.folder, 'archive'));
  const moved = join(vloc.folder, 'archive', 'spring');
  await rename(join(vloc.folder, 'out'), moved);
  requests.length = 0;
  return { ...vloc, moved, requests };
}

test('a result folder that was moved is complete at its new path: nothing is sent, nothing fetched', async () => {
  const { run, moved, requests } = await startMoved();
  const { code, stdout } = await run([...into('archive/spring', 'a.srt', 'b.srt'), '-o', 'json']);
  expect([code, requests]).toEqual([0, []]);
  expect(stdout).toContain(JSON.stringify(join(moved, 'a.es.srt')).slice(1, -1));
  expect((await readdir(moved)).sort()).toEqual(['.vloc', 'a.es.srt', 'b.es.srt']);
});

test('its report names the files at their new paths', async () => {
  const { run, moved } = await startMoved();
  const { stdout } = await run(['batch', 'report', 'archive/spring', '-o', 'json']);
  const files = JSON.parse(stdout).items.flatMap((item: { files: unknown[] }) => item.files);
  expect(files).toMatchObject([
    { asset: 'subtitle', path: join(moved, 'a.es.srt') },
    { asset: 'subtitle', path: join(moved, 'b.es.srt') },
  ]);
});

test('its journal names results by their parts and relative to the folder, and has their expiry', async () => {
  const { moved } = await startMoved();
  const { records } = await readLog(join(moved, '.vloc', 'journal'));
  const ofType = (wanted: string) => records.filter(({ type }) => type === wanted);
  // In the order in which their downloads ended.
  const files = ofType('downloaded').flatMap((record) => record.files);
  expect(files).toHaveLength(2);
  for (const name of ['a', 'b']) {
    expect(files).toContainEqual(expect.objectContaining({ asset: 'subtitle', path: `${name}.es.srt` }));
  }
  const told = ofType('finished').map(({ expires_at }) => Date.parse(String(expires_at)));
  expect(told).toEqual([expect.any(Number), expect.any(Number)]);
  expect(told).not.toContain(Number.NaN);
});

test('a result that was deleted from it is fetched again to its new path, without another job', async () => {
  const { run, moved, requests } = await startMoved();
  await rm(join(moved, 'a.es.srt'));
  expect((await run(into('archive/spring', 'a.srt', 'b.srt'))).code).toBe(0);
  expect((await readdir(moved)).sort()).toEqual(['.vloc', 'a.es.srt', 'b.es.srt']);
  expect(requests.filter((request) => request.startsWith('POST'))).toEqual([]);
});

test('its jobs keep their original name', async () => {
  const { run, caller } = await startMoved();
  expect((await run(into('archive/spring', 'a.srt', 'b.srt', 'c.srt'))).code).toBe(0);
  const { json } = await caller.get('/v1/subtitle-translations?limit=50');
  const batches = json.data.map((job: { client_reference: string }) => job.client_reference.split(':')[1]);
  expect(batches).toHaveLength(3);
  expect(new Set(batches).size).toBe(1);
});

test('a damaged journal is reported when the plan refuses, by --dry-run and by batch status', async () => {
  const { run, moved, requests } = await startMoved();
  const path = join(moved, '.vloc', 'journal');
  const damaged = (await readFile(path, 'utf8')).replace('"accepted"', '"excepted"');
  await writeFile(path, damaged);
  const where = `${path} is damaged at byte`;

  const refused = await run(into('archive/spring', 'a.srt', 'nothing.srt'));
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(where)]);
  const shown = await run([...into('archive/spring', 'a.srt', 'b.srt'), '--dry-run']);
  expect([shown.code, shown.stderr]).toEqual([0, expect.stringContaining(where)]);
  const status = await run(['batch', 'status', 'archive/spring']);
  expect([status.code, status.stderr]).toEqual([0, expect.stringContaining(where)]);
  expect(await readFile(path, 'utf8')).toBe(damaged);
  expect(requests.filter((request) => request.startsWith('POST'))).toEqual([]);
});

test('the journal of an earlier version is continued: its jobs are known', async () => {
  const { run, folder } = await startMoved();
  await mkdir(join(folder, 'old', '.vloc'), { recursive: true });
  const before = await readFile(join(import.meta.dirname, '..', '..', 'fixtures', 'journal-before-counts'));
  await writeFile(join(folder, 'old', '.vloc', 'journal'), before);
  const { stdout, stderr } = await run(['batch', 'status', 'old', '-o', 'json']);
  expect(stderr).not.toContain('damaged');
  expect(JSON.parse(stdout).items.map((item: { job_id: string }) => item.job_id)).toEqual(
    expect.arrayContaining(['trn_1', 'trn_2', 'trn_3']),
  );
});
