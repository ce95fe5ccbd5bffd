import { expect, test } from 'vitest';
import type { JobKind } from '../../../src/protocol/kind-names.ts';
import { LINES, TRANSLATION, untilJob } from '../../service/harness/scene.ts';
import { startVloc, type VlocScene } from '../support/run-vloc.ts';

const DUB = { subtitle: LINES, target_language: 'es' };

/** Three jobs a minute apart: translation, dub, translation. */
async function makeJobs({ caller, clock }: VlocScene): Promise<string[]> {
  const ids: string[] = [];
  for (const [path, body] of [
    ['/v1/subtitle-translations', { ...TRANSLATION, client_reference: 'lesson-1' }],
    ['/v1/dubbings', DUB],
    ['/v1/subtitle-translations', TRANSLATION],
  ] as const) {
    const { json } = await caller.post(path, body);
    ids.push(json.id);
    await untilJob(caller, json, 'succeeded');
    clock.advance(60_000);
  }
  return ids;
}

const idsOf = (stdout: string) => stdout.split('\n').filter((line) => line !== '');

test('jobs of all kinds are one list, the newest first', async () => {
  const vloc = await startVloc();
  const ids = await makeJobs(vloc);
  const { code, stdout } = await vloc.run(['jobs', 'list', '-o', 'id']);
  expect(code).toBe(0);
  expect(idsOf(stdout)).toEqual(ids.toReversed());
});

test('every filter of the operation restricts it', async () => {
  const vloc = await startVloc();
  const [first, dub, last] = await makeJobs(vloc);
  const list = async (...words: string[]) =>
    idsOf((await vloc.run(['jobs', 'list', '-o', 'id', ...words])).stdout);
  expect(await list('--kind', 'dubbings,subtitle_translation')).toEqual([last, dub, first]);
  expect(await list('--kind', 'dub')).toEqual([dub]);
  expect(await list('--client-reference', 'lesson-1')).toEqual([first]);
  expect(await list('--status', 'failed')).toEqual([]);
  const from = new Date(vloc.clock.now() - 90_000).toISOString();
  expect(await list('--since', from)).toEqual([last]);
  expect(await list('--until', from)).toEqual([dub, first]);
});

test('an empty list ends with exit code 0 and a note on stderr', async () => {
  const vloc = await startVloc();
  expect(await vloc.run(['jobs', 'list'])).toEqual({ code: 0, stdout: '', stderr: 'No jobs found.\n' });
});

test('--limit counts over kinds and pages, and a list of one kind continues with its cursor', async () => {
  const vloc = await startVloc();
  const [first, dub, last] = await makeJobs(vloc);
  const two = JSON.parse((await vloc.run(['jobs', 'list', '--limit', '2', '-o', 'json'])).stdout);
  expect(two.data.map((job: { id: string }) => job.id)).toEqual([last, dub]);
  expect(two.has_more).toBe(true);

  const kind = ['jobs', 'list', '--kind', 'subtitle_translation', '--limit', '1', '-o', 'json'];
  const begun = await vloc.run(kind);
  const { data, next_cursor: cursor } = JSON.parse(begun.stdout);
  expect(data[0].id).toBe(last);
  expect(begun.stderr).toContain(`continue with --cursor ${cursor}`);
  const rest = JSON.parse((await vloc.run([...kind, '--cursor', cursor])).stdout);
  expect([rest.data[0].id, rest.has_more]).toEqual([first, false]);
});

test('a list of several kinds continues with its cursor, with every job once, also if they were created at the same time', async () => {
  const vloc = await startVloc();
  const made = await makeJobs(vloc);
  for (const [path, body] of [
    ['/v1/subtitle-translations', TRANSLATION],
    ['/v1/dubbings', DUB],
    ['/v1/subtitle-translations', TRANSLATION],
    ['/v1/subtitle-translations', TRANSLATION],
    ['/v1/dubbings', DUB],
  ] as const) {
    made.push((await vloc.caller.post(path, body)).json.id);
  }
  const all = idsOf((await vloc.run(['jobs', 'list', '-o', 'id'])).stdout);
  expect(all.toSorted()).toEqual(made.toSorted());
  for (const limit of [2, 3]) {
    const listed: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const more: string[] = cursor === '' ? [] : ['--cursor', cursor];
      const { stdout, stderr } = await vloc.run([
        'jobs',
        'list',
        '--limit',
        String(limit),
        '-o',
        'json',
        ...more,
      ]);
      const page = JSON.parse(stdout);
      listed.push(...page.data.map(({ id }: { id: string }) => id));
      expect(page.has_more).toBe(page.next_cursor !== null);
      if (page.has_more) expect(stderr).toContain(`continue with --cursor ${page.next_cursor}`);
      cursor = page.next_cursor;
    }
    expect(listed).toEqual(all);
  }
});

test('a cursor of the list of one kind is refused for several', async () => {
  const vloc = await startVloc();
  await makeJobs(vloc);
  const one = await vloc.run(['jobs', 'list', '--kind', 'translate', '--limit', '1', '--jq', '.next_cursor']);
  for (const cursor of [one.stdout.trim(), 'bm9uZQ']) {
    const { code, stderr } = await vloc.run(['jobs', 'list', '--cursor', cursor]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`invalid --cursor "${cursor}"`)]);
    expect(stderr).toContain('name that with --kind');
  }
});

test('ndjson has one line per job and a summary', async () => {
  const vloc = await startVloc();
  await makeJobs(vloc);
  const { stdout } = await vloc.run(['jobs', 'list', '-o', 'ndjson', '--fields', 'object']);
  expect(idsOf(stdout).map((line) => JSON.parse(line))).toEqual([
    { object: 'subtitle_translation' },
    { object: 'dubbing' },
    { object: 'subtitle_translation' },
    { type: 'summary', count: 3, has_more: false, next_cursor: null },
  ]);
});

test('kinds that the key cannot read are skipped with a note, unless they are requested or there are no others', async () => {
  const vloc = await startVloc();
  const [first, dub, last] = await makeJobs(vloc);
  const listWith = async (permissions: readonly JobKind[], ...words: string[]) => {
    await vloc.service.changeKey(vloc.credentials.key, { permissions });
    return vloc.run(['jobs', 'list', '-o', 'id', ...words]);
  };
  const translations = await listWith(['subtitle_translation']);
  expect([translations.code, idsOf(translations.stdout)]).toEqual([0, [last, first]]);
  expect(translations.stderr).toContain('the key has no permission: audio_separation');
  expect(translations.stderr).toContain('dubbing');
  expect((await listWith(['subtitle_translation'], '--kind', 'dubbing')).code).toBe(4);
  expect(idsOf((await listWith(['dubbing'], '--kind', 'dubbing')).stdout)).toEqual([dub]);
  expect((await listWith([])).code).toBe(4);
});
