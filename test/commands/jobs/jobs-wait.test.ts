import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DOWNLOADS } from '../../../src/batch/deliver/deliver-results.ts';
import type { Faults } from '../../../src/service/index.ts';
import { LINES, TRANSLATION, until, untilJob } from '../../service/harness/scene.ts';
import { startVloc } from '../support/run-vloc.ts';

test('ids on stdin are waited for together and their results fetched', async () => {
  let looks = 0;
  const vloc = await startVloc({
    onRequest: ({ method }) => {
      if (method === 'GET') looks += 1;
    },
  });
  vloc.engines.hold();
  const ids: string[] = [];
  for (const [path, body] of [
    ['/v1/subtitle-translations', TRANSLATION],
    ['/v1/subtitle-translations', TRANSLATION],
    ['/v1/dubbings', { subtitle: LINES, target_language: 'es' }],
  ] as const) {
    ids.push((await vloc.caller.post(path, body)).json.id);
  }
  const waiting = vloc.run(['jobs', 'wait', '-', '-o', 'json', '--verbose'], { stdin: ids.join('\n') });
  await until(() => looks >= ids.length);
  vloc.engines.letGo();
  const { code, stdout, stderr } = await waiting;
  expect(code).toBe(0);
  expect(JSON.parse(stdout).data.map((row: { id: string; status: string }) => [row.id, row.status])).toEqual(
    ids.map((id) => [id, 'succeeded']),
  );
  expect((await readdir(vloc.folder)).filter((name) => /\.(srt|wav)$/.test(name))).toHaveLength(3);
  // No id is asked for in a collection that is not its own.
  expect(stderr).not.toMatch(/audio-separations\/|auto-localizations\//);
});

test('many results are fetched a few at a time', async () => {
  const asked = { now: 0, most: 0 };
  const full = Promise.withResolvers<void>();
  const faults: Faults = {
    before: async ({ target }) => {
      if (!target.startsWith('/assets/')) return null;
      asked.now += 1;
      asked.most = Math.max(asked.most, asked.now);
      if (asked.now === DOWNLOADS) full.resolve();
      await full.promise;
      // Meanwhile all others would arrive, if nothing kept them back.
      await vloc.caller.get('/v1/credits');
      asked.now -= 1;
      return null;
    },
    after: async (_facts, answer) => answer,
  };
  const vloc = await startVloc({ faults });
  const ids: string[] = [];
  for (let count = 0; count < 2 * DOWNLOADS; count += 1)
    ids.push((await vloc.caller.post('/v1/subtitle-translations', TRANSLATION)).json.id);
  const { code, stderr } = await vloc.run(['jobs', 'wait', ...ids]);
  expect(code, stderr).toBe(0);
  expect(asked.most).toBe(DOWNLOADS);
});

test('empty input on stdin waits for nothing', async () => {
  const vloc = await startVloc();
  const { code, stdout, stderr } = await vloc.run(['jobs', 'wait', '-'], { stdin: '\n' });
  expect([code, stdout, stderr]).toEqual([0, '', 'No jobs to wait for.\n']);
});

test('the input of a job that this machine made is shown', async () => {
  const vloc = await startVloc();
  await writeFile(join(vloc.folder, 'talk.srt'), '1\n00:00:00,000 --> 00:00:01,000\nhello\n');
  const words = ['translate', 'talk.srt', '--from', 'en', '--to', 'es', '--detach', '-o', 'id'];
  const own = (await vloc.run(words)).stdout.trim();
  await untilJob(vloc.caller, { detail_url: `/v1/subtitle-translations/${own}` }, 'succeeded');
  const { json: other } = await vloc.caller.post('/v1/subtitle-translations', TRANSLATION);
  await untilJob(vloc.caller, other, 'succeeded');
  const ids = [`subtitle-translations/${own}`, other.id, 'tra_unknown'];
  const { stdout } = await vloc.run(['jobs', 'wait', ...ids, '--fields', 'input,id', '-o', 'json']);
  expect(JSON.parse(stdout).data).toEqual([
    { input: 'talk.srt', id: own },
    { input: other.id, id: other.id },
    { input: 'tra_unknown', id: null },
  ]);
  const table = await vloc.run(['jobs', 'download', own, other.id]);
  expect(table.stdout).toMatch(/^INPUT +LANGUAGE +STATUS/);
  expect(table.stdout).toContain('\ntalk.srt ');
  expect(table.stdout).toContain(`\n${other.id} `);
});
