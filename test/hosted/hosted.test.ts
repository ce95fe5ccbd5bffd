/** The commands that people reach for, against services that differ wherever the specification leaves something open. */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type Ended, errorOf, foldersIn } from '../support/run-main.ts';
import { DIFFERENCES, type Difference } from './differences.ts';
import { openHosted } from './run-hosted.ts';
import { dottedSignature } from './signature.ts';
import { TROUBLE_REQUEST_ID, type Trouble } from './troubles.ts';
import { VARIANTS } from './variants.ts';

const used = new Set<Difference>();

afterAll(() => {
  // Every line of the table has been in an answer: else it would promise what nobody looks at.
  const answered: ReadonlySet<string> = used;
  expect(Object.keys(DIFFERENCES).filter((name) => !answered.has(name))).toEqual([]);
});

/** What was printed is free of what nobody should read. */
function expectReadable({ stdout, stderr }: Ended): void {
  const said = stdout + stderr;
  expect(said).not.toMatch(/undefined|\bNaN\b|Invalid Date|\[object Object\]|INTERNAL_DEFECT/);
  expect(said).not.toMatch(/^\s+at .*:\d+:\d+/m);
  expect(said).not.toMatch(/canary/);
}

function expectDone(ended: Ended): void {
  expect([ended.code, ended.stderr]).toEqual([0, ended.stderr]);
  expectReadable(ended);
}

const JOBS = [
  {
    words: ['separate', 'talk.mp4'],
    files: { vocal_audio: 'talk.vocals.wav', background_audio: 'talk.background.wav' },
  },
  { words: ['recognize', 'talk.mp4'], files: { subtitle: /^talk(?:\.en)?\.srt$/ } },
  { words: ['localize', 'talk.mp4', '--to', 'es'], files: { video: 'talk.es.mp4' } },
  { words: ['translate', 'talk.srt', '--to', 'es'], files: { subtitle: 'talk.es.srt' } },
  { words: ['dub', 'talk.srt', '--to', 'es'], files: { audio: 'talk.es.wav' } },
] as const;

/** The generous one answers as the embedded service does, at which `commands` runs. */
const VARIANT_NAMES = ['minimal', 'acme', 'north', 'south'] as const;

describe.each(VARIANT_NAMES)('at the service %s', (variant) => {
  const open = () => openHosted(VARIANTS[variant], used);

  test.each(JOBS)('vloc $words.0 fetches the bytes of its results', async ({ words, files }) => {
    const { run, folder, hosted } = await open();
    const ended = await run([...words, '--out', join(folder, 'results'), '-o', 'json']);
    expectDone(ended);
    const [{ id, error, files: found, status }] = JSON.parse(ended.stdout).data;
    expect([error, status]).toEqual([null, 'succeeded']);
    expect(found.map(({ asset }: { asset: string }) => asset)).toEqual(Object.keys(files));
    for (const { asset, path } of found) {
      expect(await readFile(path)).toEqual(hosted.jobs.get(id)?.files[asset]?.bytes);
      const name = Object.entries(files).find(([each]) => each === asset)?.[1] ?? '';
      expect(relative(join(folder, 'results'), path)).toMatch(name);
    }
  });

  test('vloc upload makes uploads ready, and a job uses one by its id', async () => {
    const { run, hosted } = await open();
    const ended = await run(['upload', 'talk.mp4', 'talk.srt', '-o', 'json']);
    expectDone(ended);
    const [video] = JSON.parse(ended.stdout).data;
    expect(video.status).toBe('ready');
    expectDone(await run(['upload', 'get', video.id]));
    expectDone(await run(['localize', `uploads/${video.id}`, '--to', 'es', '--detach']));
    // Only this form of a bare id differs from the name of a file.
    const bare = variant === 'acme' ? video.id : video.detail_url;
    expectDone(await run(['localize', bare, '--to', 'es', '--detach', '--fresh']));
    const asked = hosted.requests.filter(({ url }) => url === '/v1/auto-localizations');
    expect(asked.map(({ body }) => JSON.parse(body.toString()).source)).toEqual(
      Array(2).fill({ type: 'upload', upload_id: video.id }),
    );
  });

  test('vloc credits shows balance, quota and history', async () => {
    const { run } = await open();
    const balance = await run(['credits', '-o', 'json']);
    expectDone(balance);
    expect(JSON.parse(balance.stdout)).toMatchObject({ balance_credits: 100, available_credits: 97.5 });
    if (variant !== 'north') {
      const { monthly_usage: month } = JSON.parse(balance.stdout);
      expect([month.limit_credits, month.remaining_credits]).toEqual([500, 488.5]);
    }
    expectDone(await run(['credits']));
    const history = await run(['credits', 'history', '--all', '-o', 'json']);
    expectDone(history);
    const lines = JSON.parse(history.stdout).data;
    expect(lines.map(({ amount }: { amount: number }) => amount)).toEqual(Array(3).fill(-1.5));
    expectDone(await run(['credits', 'history', '--all']));
  });

  test('vloc jobs lists, gets, waits, downloads and cancels', async () => {
    const { run, folder } = await open();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const ended = await run(['dub', 'talk.srt', '--to', 'es', '--detach', '--fresh', '-o', 'id']);
      expectDone(ended);
      ids.push(ended.stdout.trim());
    }
    const [first = '', second = '', third = ''] = ids;
    const listed = await run(['jobs', 'list', '--all', '-o', 'json']);
    expectDone(listed);
    expect(
      JSON.parse(listed.stdout)
        .data.map(({ id }: { id: string }) => id)
        .sort(),
    ).toEqual([...ids].sort());
    expectDone(await run(['jobs', 'list', '--all']));
    expectDone(await run(['jobs', 'cancel', third]));
    const got = await run(['jobs', 'get', first, '-o', 'json']);
    expectDone(got);
    const { detail_url: detail } = JSON.parse(got.stdout);
    expectDone(await run(['jobs', 'wait', detail, '--out', join(folder, 'waited')]));
    expectDone(await run(['jobs', 'wait', first, second, '--out', join(folder, 'both')]));
    expectDone(await run(['jobs', 'download', `dubbings/${first}`, '--out', join(folder, 'fetched')]));
    expect(await readdir(join(folder, 'fetched'))).toEqual([expect.stringContaining(first)]);
    expectDone(await run(['jobs', 'get', ...ids]));
  });

  test('vloc api prints what the service answers', async () => {
    const { run } = await open();
    const ended = await run(['api', 'GET', '/credits', '-o', 'json']);
    expectDone(ended);
    expect(Number(JSON.parse(ended.stdout).balance_credits)).toBe(100);
    const pages = await run(['api', 'GET', '/credit-transactions', '--paginate', '-o', 'json']);
    expectDone(pages);
  });
});

test('vloc profile keeps the prefix of the headers', async () => {
  const { run, folder, hosted } = await openHosted(VARIANTS.acme, used);
  const { prefix, key, secret } = hosted.account;
  const env = foldersIn(join(folder, 'own'));
  const given = ['--base-url', hosted.baseUrl, '--key', key, '--header-prefix', prefix];
  const flags = ['--secret-stdin', '--store', 'file'];
  expectDone(await run(['profile', 'add', 'prod', ...given, ...flags], { env, stdin: `${secret}\n` }));
  expectDone(await run(['credits', '--profile', 'prod'], { env }));
});

describe('a service that does not repeat the request', () => {
  test('does not affect the names of results, least of all with that of the input', async () => {
    const { run, folder } = await openHosted(VARIANTS.acme, used);
    const input = await readFile(join(folder, 'talk.mp4'));
    const ended = await run(['localize', 'talk.mp4', '--to', 'es,fr', '--clobber', '-o', 'plain']);
    expectDone(ended);
    const names = ended.stdout
      .trim()
      .split('\n')
      .map((path) => relative(folder, path));
    expect(names.sort()).toEqual(['talk.es.mp4', 'talk.fr.mp4']);
    expect(await readFile(join(folder, 'talk.mp4'))).toEqual(input);
  });
});

describe('a job that fails', () => {
  test('for a reason that this version does not know is reported with it', async () => {
    const { run, hosted } = await openHosted(VARIANTS.north, used);
    hosted.endsAs = 'failed';
    const ended = await run(['dub', 'talk.srt', '--to', 'es', '-o', 'json']);
    expectReadable(ended);
    expect(ended.code).toBe(5);
    expect(errorOf(ended)).toMatchObject({ code: 'LIPS_NOT_FOUND', message: 'Nobody speaks.' });
  });
});

describe('an answer of a proxy', () => {
  test.each<Trouble>([
    'error-code-unknown',
    'retry-after-date',
    'retry-after-none',
    'in-progress',
    'page-502',
  ])('(%s) is waited out, and causes no second job', async (trouble) => {
    const { run, hosted, slept } = await openHosted(VARIANTS.acme, used);
    hosted.troubles.push(trouble);
    expectDone(await run(['dub', 'talk.srt', '--to', 'es']));
    expect(hosted.jobs.size).toBe(1);
    expect(slept.length).toBeGreaterThan(0);
  });

  test.each<[Trouble, number, object]>([
    ['error-without-code', 1, { code: 'HTTP_422', message: 'That language is not offered' }],
    ['error-json-type', 1, { message: 'No such mode', request_id: TROUBLE_REQUEST_ID }],
    ['page-403', 4, { message: expect.stringContaining('Blocked by the firewall') }],
  ])('(%s) ends the run and is reported', async (trouble, code, error) => {
    const { run, hosted } = await openHosted(VARIANTS.acme, used);
    hosted.troubles.push(trouble);
    // Fresh: without a journal the first request would be the look for jobs of an earlier run.
    const ended = await run(['dub', 'talk.srt', '--to', 'es', '--fresh', '-o', 'json']);
    expectReadable(ended);
    expect([ended.code, errorOf(ended)]).toMatchObject([code, error]);
    expect(hosted.jobs.size).toBe(0);
  });
});

describe('an address of a result that storage refuses', () => {
  test('is requested again, and the result is fetched', async () => {
    const { run, hosted, folder } = await openHosted(VARIANTS.minimal, used);
    let left = 1;
    hosted.change = (body) => {
      if (body.result !== undefined && left > 0) {
        left -= 1;
        hosted.expireLinks();
      }
      return body;
    };
    const ended = await run(['dub', 'talk.srt', '--to', 'es', '-o', 'json']);
    expectDone(ended);
    const [{ id, files }] = JSON.parse(ended.stdout).data;
    expect(await readFile(join(folder, 'talk.es.wav'))).toEqual(hosted.jobs.get(id)?.files.audio?.bytes);
    expect(files).toHaveLength(1);
    expect(left).toBe(0);
  });
});

describe('a webhook', () => {
  test('is verified under the prefix of the profile, in the other form', async () => {
    const { run, hosted, folder } = await openHosted(VARIANTS.acme, used);
    used.add('webhook-dot').add('webhook-prefix');
    const body = await readFile(join(folder, 'talk.srt'));
    const timestamp = String(Math.floor(Date.now() / 1000));
    const id = 'evt_0123456789abcdef';
    const secret = 'webhook-secret-of-some-length';
    const signature = dottedSignature(secret, timestamp, id, body);
    const env = {
      VLOC_WEBHOOK_SECRET: secret,
      VLOC_HEADER_PREFIX: hosted.account.prefix,
      VLOC_CONFIG_DIR: join(folder, 'config'),
    };
    const head = `X-Acme-Webhook-Timestamp: ${timestamp}\nX-Acme-Webhook-Id: ${id}\nX-Acme-Webhook-Signature: ${signature}\n`;
    const words = ['webhooks', 'verify', '--body', 'talk.srt', '--headers', '-'];
    const ended = await run([...words, '-o', 'json'], { env, stdin: head });
    expectDone(ended);
    expect(JSON.parse(ended.stdout)).toMatchObject({ valid: true, form: 'dot' });
    const forged = await run(words, { env, stdin: head.replace(id, 'evt_0123456789abcdeg') });
    expect(forged.code).toBe(1);
  });
});
