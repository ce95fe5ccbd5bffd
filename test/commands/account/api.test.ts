import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { html, startServer } from '../../client/support/scripted-server.ts';
import { TRANSLATION } from '../../service/harness/scene.ts';
import { startVloc } from '../support/run-vloc.ts';

const BODY = JSON.stringify(TRANSLATION);

test('a GET is signed and its answer printed unchanged, with or without the version', async () => {
  const vloc = await startVloc();
  const expected = (await vloc.caller.get('/v1/credits')).json;
  for (const path of ['/credits', '/v1/credits', 'credits']) {
    const { code, stdout, stderr } = await vloc.run(['api', path]);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual(expected);
  }
});

test('a body makes it a POST, with a key that is printed and can be passed again', async () => {
  const vloc = await startVloc();
  await writeFile(join(vloc.folder, 'request.json'), BODY);
  const path = '/subtitle-translations';
  const first = await vloc.run(['api', path, '-d', '@request.json', '-o', 'id']);
  const key = /^Idempotency-Key: (\S+)$/m.exec(first.stderr)?.[1] ?? '';
  expect(first.stdout).toMatch(/^tra_\w+\n$/);
  const again = ['api', 'post', path, '--idempotency-key', key, '-o', 'id'];
  expect((await vloc.run([...again, '-d', BODY])).stdout).toBe(first.stdout);
  expect((await vloc.run([...again, '-d', '-'], { stdin: BODY })).stdout).toBe(first.stdout);
  const marked = { stdin: `\uFEFF${BODY}` };
  expect((await vloc.run([...again, '-d', '-'], marked)).stdout).toBe(first.stdout);
  const other = await vloc.run(['api', path, '-d', BODY, '-o', 'id']);
  expect(other.stdout).not.toBe(first.stdout);
});

test('--include shows status and headers; custom headers are sent', async () => {
  const vloc = await startVloc();
  const { json } = await vloc.caller.post('/v1/subtitle-translations', TRANSLATION);
  const path = `/subtitle-translations/${json.id}`;
  const { stdout } = await vloc.run(['api', path, '--include', '-H', 'X-Client-Request-ID=lesson-4']);
  expect(JSON.parse(stdout)).toMatchObject({
    status: 200,
    headers: { 'x-client-request-id': 'lesson-4' },
    body: { id: json.id },
  });
});

test('--include shows status and headers of an error, too, on stdout', async () => {
  const vloc = await startVloc();
  const { code, stdout, stderr } = await vloc.run(['api', '/dubbings/dub_1', '--include']);
  expect(JSON.parse(stdout)).toMatchObject({
    status: 404,
    headers: { 'x-request-id': expect.stringMatching(/^req_/), 'content-type': 'application/problem+json' },
    body: { code: 'RESOURCE_NOT_FOUND', status: 404 },
  });
  expect([code, stderr]).toEqual([1, expect.stringContaining('RESOURCE_NOT_FOUND')]);
  const ids = await vloc.run(['api', '/dubbings/dub_1', '--include', '--output', 'id']);
  expect([ids.code, ids.stdout]).toEqual([1, '']);
  const wrongKey = { env: { ...vloc.env, VLOC_SECRET: 'wrong' } };
  const status = await vloc.run(['api', '/credits', '--include', '--jq', '.status'], wrongKey);
  expect([status.code, status.stdout]).toEqual([4, '401\n']);
});

test('--include shows the page of a gateway as text', async () => {
  const gateway = await startServer(html(404, '<h1>Not here</h1>'));
  onTestFinished(gateway.close);
  const vloc = await startVloc();
  const { code, stdout } = await vloc.run(['api', '/credits', '--include'], {
    env: { ...vloc.env, VLOC_BASE_URL: gateway.baseUrl },
  });
  expect([code, JSON.parse(stdout)]).toMatchObject([4, { status: 404, body: '<h1>Not here</h1>' }]);
});

test('--paginate follows the cursors: one array, or one entry per line', async () => {
  const vloc = await startVloc();
  const ids: string[] = [];
  for (let made = 0; made < 3; made += 1) {
    ids.unshift((await vloc.caller.post('/v1/subtitle-translations', TRANSLATION)).json.id);
  }
  const words = ['api', '/subtitle-translations?limit=2', '--paginate'];
  const array = JSON.parse((await vloc.run(words)).stdout);
  expect(array.map((job: { id: string }) => job.id)).toEqual(ids);
  const lines = (await vloc.run([...words, '-o', 'ndjson'])).stdout.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).id)).toEqual([...ids, undefined]);
  expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ type: 'summary', count: 3 });
  expect((await vloc.run(['api', '/credits', '--paginate'])).code).toBe(2);
});

test.each([
  ['/nowhere', 'No such path. Run `vloc schema --output id` for a list.'],
  ['v1/dubbings/dub_1', 'Check the id and the profile'],
])('the advice for %s, which is not found, is about the path or about the id', async (path, advice) => {
  const vloc = await startVloc();
  const { code, stderr } = await vloc.run(['api', path]);
  expect(code).toBe(1);
  expect(stderr).toContain(advice);
});
