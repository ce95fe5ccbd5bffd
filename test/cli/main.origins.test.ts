/**
 * Who refused, with which status, in which form of body: what the exit code is, whether it was tried again, and who is
 * blamed. Commands run as users run them, against a service on loopback that answers as the row says; no wait really passes.
 */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { createFakeRuntime } from '../client/support/fake-runtime.ts';
import { makeFolder, onCleanup } from '../client/support/harness.ts';
import { type MiniService, type Step, serveAll } from '../client/support/mini-service.ts';
import { answer, json, type Reply, startServer } from '../client/support/scripted-server.ts';
import { createTestIo } from '../support/test-io.ts';

/** The code that the service returns with a status, and whether it says that a retry helps. */
const CODES: Readonly<Record<number, readonly [code: string, retryable: boolean]>> = {
  400: ['INVALID_REQUEST', false],
  401: ['AUTHENTICATION_FAILED', false],
  402: ['INSUFFICIENT_CREDITS', false],
  403: ['SOURCE_IP_NOT_ALLOWED', false],
  404: ['RESOURCE_NOT_FOUND', false],
  408: ['REQUEST_TIMEOUT', true],
  409: ['IDEMPOTENCY_KEY_REUSED', false],
  410: ['GONE', false],
  413: ['CONTENT_TOO_LARGE', false],
  422: ['INPUT_NOT_USABLE', false],
  429: ['RATE_LIMIT_EXCEEDED', true],
  500: ['INTERNAL_ERROR', true],
  503: ['SERVICE_TEMPORARILY_UNAVAILABLE', false],
};

/** Forms of an answer with a status, by the name of their column. Plain text is taken as HTML is. */
const FORMS = {
  code: (status: number): Reply => coded(status, ...(CODES[status] ?? ['SOMETHING_NEW', true])),
  problem: (status: number): Reply =>
    answer(status, { 'content-type': 'application/problem+json' }, '{"title":"It said no."}'),
  html: (status: number): Reply =>
    answer(status, { 'content-type': 'text/html' }, '<html><h1>It said no.</h1></html>'),
  xml: (status: number): Reply =>
    answer(status, { 'content-type': 'application/xml' }, '<Error><Message>It said no.</Message></Error>'),
  empty: (status: number): Reply => answer(status, {}),
} as const;

function coded(status: number, code: string, retryable: boolean): Reply {
  const body = { title: 'It said no.', status, detail: 'It said no.', code, request_id: 'req_1', retryable };
  return answer(status, { 'content-type': 'application/problem+json' }, JSON.stringify(body));
}

interface Scene {
  readonly service: MiniService;
  readonly folder: string;
  /** Requests of one step so far. */
  count(step: Step): number;
  /** Answers a step so many times like this. */
  spoil(step: Step, reply: Reply, times?: number): void;
  run(words: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }>;
}

/** A service for one test, and a folder with a video. */
async function openScene(): Promise<Scene> {
  const server = await startServer();
  onCleanup(server.close);
  const service = serveAll(server);
  const { route } = server;
  const isList = (method: string, target: string) => method === 'GET' && /^\/v1\/[\w-]+s\?/.test(target);
  const empty = json(200, { object: 'list', data: [], has_more: false, next_cursor: null });
  server.route = (method, target) => (isList(method, target) ? empty : route(method, target));
  const folder = await makeFolder();
  await writeFile(join(folder, 'talk.mp4'), Buffer.from('\0\0\0\x18ftypisom and more'));
  const env = {
    VLOC_BASE_URL: server.baseUrl,
    VLOC_KEY: 'AK-1',
    VLOC_SECRET: 'secret-canary',
    VLOC_CONFIG_DIR: join(folder, 'config'),
    VLOC_STATE_DIR: join(folder, 'state'),
  };
  const counts = new Map<Step, number>();
  const clock = createFakeRuntime();
  const { now, sleep, random } = clock;
  return {
    service,
    folder,
    count: (step) => counts.get(step) ?? 0,
    spoil(step, reply, times = 1_000) {
      const counted: Reply = (seen, response, request) => {
        counts.set(step, (counts.get(step) ?? 0) + 1);
        reply(seen, response, request);
      };
      service.faults = { step, replies: Array.from({ length: times }, () => () => counted) };
    },
    async run(words) {
      const io = createTestIo({ cwd: folder, env, now, pace: { runtime: { now, sleep, random } } });
      const code = await main(words, io.io);
      return { code, stdout: io.stdout(), stderr: io.stderr() };
    },
  };
}

//     code         | problem      | html

//     html         | xml          | empty
// A refused reservation is replaced once, so that the file is sent twice. Any success but a page is taken for one, and the
// service then says that nothing arrived.

//     html         | xml          | empty
// The job is read for another link, and has none: a refused link is not asked again. Redirects need an address.

const page = FORMS.html;
const LOCALIZE = ['localize', 'talk.mp4', '--out', 'out', '--to'];

describe('a page in answer to a poll', () => {
  test.each([200, 301, 403, 502])('(%i) does not end the waiting', async (status) => {
    const scene = await openScene();
    scene.spoil('pollJob', page(status), 1);
    const { code } = await scene.run([...LOCALIZE, 'es']);
    expect(scene.count('pollJob')).toBe(1);
    expect(code).toBe(0);
    expect(await readdir(join(scene.folder, 'out'))).toContain('talk.es.mp4');
  });

  test.each([200, 403])('(%i) and nothing else for long is temporary, with the command', async (status) => {
    const scene = await openScene();
    scene.spoil('pollJob', page(status));
    const ended = await scene.run([...LOCALIZE, 'es']);
    expect(ended.code).toBe(7);
    expect(ended.stderr).toMatch(/Continue with:\n {2}vloc jobs wait loc_1 --out /);
    expect(scene.service.jobs.size).toBe(1);
  });
});

describe('a batch of eight', () => {
  const EIGHT = [...LOCALIZE, 'es,fr,de,it,pt,nl,pl,sv'];

  test('loses one item to a refused download link, says until when and how to fetch it, and the command works', async () => {
    const scene = await openScene();
    scene.spoil('download', FORMS.xml(403), 1);
    const ended = await scene.run(EIGHT);
    expect(ended.code).toBe(3);
    expect(ended.stderr).not.toContain('accept the key');
    expect(ended.stderr).toContain('it can be downloaded until 2099-01-01 00:00 UTC');
    const command = /Continue with:\n {2}vloc (jobs wait .*)/.exec(ended.stderr)?.[1] ?? '';
    const results = async () =>
      (await readdir(join(scene.folder, 'out'))).filter((name) => name.endsWith('.mp4'));
    expect(await results()).toHaveLength(7);
    const pasted = command.split(' ').map((word) => word.replace(/^'(.*)'$/, '$1'));
    expect((await scene.run(pasted)).code).toBe(0);
    expect(await results()).toHaveLength(8);
    expect(scene.service.jobs.size).toBe(8);
  });

  test('loses one item to a page of a firewall, and does not blame the key', async () => {
    const scene = await openScene();
    scene.spoil('createJob', page(403), 1);
    const ended = await scene.run(EIGHT);
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain('a proxy, gateway or firewall in front of the API refused the request');
    expect(ended.stderr).not.toMatch(/accept the key|refuses access/);
    expect(scene.service.jobs.size).toBe(7);
  });

  test.each([
    [401, 'AUTHENTICATION_FAILED', /does not accept the key/],
    [403, 'SOURCE_IP_NOT_ALLOWED', /address of this machine is not on the key's allow-list/],
    [403, 'API_ACCESS_NOT_INCLUDED_IN_PLAN', /plan does not include API access/],
    [403, 'CAPABILITY_NOT_PERMITTED', /lacks the permission/],
  ])('stops at %i %s, and says that', async (status, code, words) => {
    const scene = await openScene();
    scene.spoil('createUpload', coded(status, code, false));
    const ended = await scene.run(EIGHT);
    expect(ended.code).toBe(4);
    expect(ended.stderr).toMatch(words);
    expect(ended.stderr).toContain(code);
    expect(scene.service.jobs.size).toBe(0);
  });

  test('sends a paid call again with the same key behind a login page', async () => {
    const scene = await openScene();
    scene.spoil('createJob', page(200), 3);
    expect((await scene.run(EIGHT)).code).toBe(0);
    expect(scene.service.jobs.size).toBe(8);
  });
});
