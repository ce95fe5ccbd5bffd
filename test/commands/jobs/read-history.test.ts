import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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

test('a result folder that was moved is complete at its new path: nothing is sent, nothing fetched, and the report names its files there', async () => {
  const { run, moved, requests } = await startMoved();
  const { code, stdout } = await run([...into('archive/spring', 'a.srt', 'b.srt'), '-o', 'json']);
  expect([code, requests]).toEqual([0, []]);
  expect(stdout).toContain(JSON.stringify(join(moved, 'a.es.srt')).slice(1, -1));
  expect((await readdir(moved)).sort()).toEqual(['.vloc', 'a.es.srt', 'b.es.srt']);
  const report = await run(['batch', 'report', 'archive/spring', '-o', 'json']);
  const files = JSON.parse(report.stdout).items.flatMap((item: { files: unknown[] }) => item.files);
  expect(files).toMatchObject([
    { asset: 'subtitle', path: join(moved, 'a.es.srt') },
    { asset: 'subtitle', path: join(moved, 'b.es.srt') },
  ]);
});

test('the jobs of a moved folder keep their original name', async () => {
  const { run, caller } = await startMoved();
  expect((await run(into('archive/spring', 'a.srt', 'b.srt', 'c.srt'))).code).toBe(0);
  const { json } = await caller.get('/v1/subtitle-translations?limit=50');
  const batches = json.data.map((job: { client_reference: string }) => job.client_reference.split(':')[1]);
  expect(batches).toHaveLength(3);
  expect(new Set(batches).size).toBe(1);
});

test('records of a version before the first release are refused before anything is sent, by every command', async () => {
  const { run, folder, requests } = await startMoved();
  await mkdir(join(folder, 'old', '.vloc'), { recursive: true });
  await writeFile(
    join(folder, 'old', '.vloc', 'journal'),
    '0123456789abcdef\t{"seq":1,"type":"log_start"}\n',
  );
  for (const words of [
    into('old', 'a.srt'),
    [...into('old', 'a.srt'), '--fresh'],
    ['batch', 'status', 'old'],
  ]) {
    const { code, stderr } = await run(words);
    expect([code, stderr]).toEqual([2, expect.stringContaining('RECORDS_OLD')]);
  }
  expect(requests).toEqual([]);
});
