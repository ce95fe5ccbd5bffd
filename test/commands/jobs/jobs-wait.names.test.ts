import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readySource, TRANSLATION, until, untilJob } from '../../service/harness/scene.ts';
import { startVloc, type VlocScene } from '../support/run-vloc.ts';

async function makeTranslations({ caller }: VlocScene, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push((await caller.post('/v1/subtitle-translations', TRANSLATION)).json.id);
  return ids;
}

const results = async (folder: string) =>
  (await readdir(folder)).filter((name) => /\.(srt|wav|part)$/.test(name));

test('results that would write one file are refused before anything is fetched', async () => {
  const vloc = await startVloc();
  const ids = await makeTranslations(vloc, 4);
  const words = ['jobs', 'wait', ...ids, '--name', 'same{ext}', '--clobber', '-o', 'json'];
  const { code, stdout, stderr } = await vloc.run(words);
  expect([code, stdout]).toEqual([2, '']);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'RESULTS_CLASH' } });
  expect(stderr).toContain(`would write ${join(vloc.folder, 'same.srt')}, as ${ids[0]} does`);
  expect(await results(vloc.folder)).toEqual([]);
});

test('a name that is known only at the end is used for the first; the later result stays at the service', async () => {
  const looked: string[] = [];
  const vloc = await startVloc({ onRequest: ({ method, template }) => looked.push(`${method} ${template}`) });
  vloc.engines.hold();
  const source = await readySource(vloc.caller);
  const made = [];
  while (made.length < 2) made.push((await vloc.caller.post('/v1/subtitle-recognitions', { source })).json);
  const words = [
    'jobs',
    'wait',
    ...made.map(({ id }) => id),
    '--name',
    '{lang}{ext}',
    '--clobber',
    '-o',
    'json',
  ];
  const waiting = vloc.run(words);
  // More than once each, so that the command has read both, and then begun to wait for them.
  await until(
    () => looked.filter((each) => each.startsWith('GET /v1/subtitle-recognitions')).length > made.length,
  );
  vloc.engines.letGo();
  const { code, stdout } = await waiting;
  expect(code).toBe(3);
  const rows: Row[] = JSON.parse(stdout).data;
  const [kept] = rows.filter(({ error }) => error === null);
  const [refused] = rows.filter(({ error }) => error !== null);
  const names = await results(vloc.folder);
  expect(names).toHaveLength(1);
  const bytes = await readFile(join(vloc.folder, names[0] ?? ''));
  expect(kept?.files).toMatchObject([{ sha256: createHash('sha256').update(bytes).digest('hex') }]);
  expect(refused).toMatchObject({ status: 'succeeded', files: [], error: { code: 'RESULTS_CLASH' } });
  expect((await vloc.run(['jobs', 'download', String(refused?.id)])).code).toBe(0);
});

interface Row {
  readonly id: string;
  readonly status: string;
  readonly files: readonly { readonly sha256: string }[];
  readonly error: { readonly code: string } | null;
}

test('one job under two of its names is waited for once', async () => {
  const vloc = await startVloc();
  const [id = ''] = await makeTranslations(vloc, 1);
  await untilJob(vloc.caller, { detail_url: `/v1/subtitle-translations/${id}` }, 'succeeded');
  const { code, stdout } = await vloc.run(['jobs', 'wait', id, `subtitle-translations/${id}`, '-o', 'json']);
  expect([code, JSON.parse(stdout).data.length]).toEqual([0, 1]);
});
