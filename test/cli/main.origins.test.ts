/** Who refused: what the exit code is, who is blamed, and how the run goes on. No wait really passes. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Fault, scriptFaults } from '../../src/service/index.ts';
import { createFakeRuntime } from '../client/support/fake-runtime.ts';
import { startVloc } from '../commands/support/run-vloc.ts';
import { videoOf } from '../service/harness/small-engines.ts';

const PAGE = { body: '<html><h1>It said no.</h1></html>', headers: { 'Content-Type': 'text/html' } };
const LOCALIZE = ['localize', 'a.mp4', '--to', 'es,fr', '--out', 'out'];

/** vloc at a service with these faults, and a video. */
async function openScene(...faults: Fault[]) {
  const vloc = await startVloc({ faults: scriptFaults(faults) });
  await writeFile(join(vloc.folder, 'a.mp4'), videoOf(60));
  const { now, sleep, random } = createFakeRuntime();
  const run = (words: readonly string[]) =>
    vloc.run(words, { now, pace: { runtime: { now, sleep, random } } });
  const jobs = async () => (await vloc.caller.get('/v1/auto-localizations')).json.data.length;
  const results = async () =>
    (await readdir(join(vloc.folder, 'out'))).filter((name) => name.endsWith('.mp4'));
  return { run, jobs, results };
}

test('nothing but pages in answer to polls is temporary, with the command that continues', async () => {
  const on = 'GET /auto-localizations/{auto_localization_id}';
  const { run, jobs } = await openScene({ on, times: Infinity, ...PAGE });
  const { code, stderr } = await run(['localize', 'a.mp4', '--to', 'es', '--out', 'out']);
  expect(code).toBe(7);
  expect(stderr).toMatch(/Continue with:\n {2}vloc jobs wait loc_\w+ --out /);
  expect(await jobs()).toBe(1);
});

test('a refused download link loses one item, says until when and how to fetch it, and the command works', async () => {
  const refusal = { status: 403, body: '<Error>no</Error>', headers: { 'Content-Type': 'application/xml' } };
  const { run, jobs, results } = await openScene({ on: 'GET /assets/{job_id}/{name}', ...refusal });
  const { code, stderr } = await run(LOCALIZE);
  expect([code, stderr]).toEqual([3, expect.stringMatching(/it can be downloaded until \d{4}-/)]);
  expect(stderr).not.toContain('accept the key');
  expect(await results()).toHaveLength(1);
  const [, command = ''] = /Continue with:\n {2}vloc (jobs wait .*)/.exec(stderr) ?? [];
  const pasted = command.split(' ').map((word) => word.replace(/^'(.*)'$/, '$1'));
  expect((await run(pasted)).code).toBe(0);
  expect(await results()).toHaveLength(2);
  expect(await jobs()).toBe(2);
});

test('a page of a firewall loses one item, and the key is not blamed', async () => {
  const { run, jobs } = await openScene({ on: 'POST /auto-localizations', status: 403, ...PAGE });
  const { code, stderr } = await run(LOCALIZE);
  expect(code).toBe(3);
  expect(stderr).toContain('a proxy, gateway or firewall in front of the API refused the request');
  expect(stderr).not.toMatch(/accept the key|refuses access/);
  expect(await jobs()).toBe(1);
});

test('a batch stops when its key is not accepted, and says that', async () => {
  const refusal = { times: Infinity, status: 401, code: 'AUTHENTICATION_FAILED' } as const;
  const { run, jobs } = await openScene({ on: 'POST /uploads', ...refusal });
  const { code, stderr } = await run(LOCALIZE);
  expect([code, stderr]).toEqual([4, expect.stringContaining('does not accept the key')]);
  expect(stderr).toContain('AUTHENTICATION_FAILED');
  expect(await jobs()).toBe(0);
});
