import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { EVENT_ID, eventBody, type SignOptions, sign } from '../../client/webhooks/sign.ts';
import { createTestIo, type TestIoOptions } from '../../support/test-io.ts';

const SECRET = 'whsec_canary';
const AT = 1_795_197_845;
const BODY = eventBody('dub_1');

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vloc-verify-'));
});

async function run(words: readonly string[], options: TestIoOptions = {}) {
  const env = { VLOC_WEBHOOK_SECRET: SECRET, ...options.env };
  const test = createTestIo({ cwd: folder, now: () => AT * 1000, ...options, env });
  const code = await main(['webhooks', 'verify', ...words], test.io);
  const [stdout, stderr] = [test.stdout(), test.stderr()];
  expect(stdout + stderr).not.toContain('canary');
  return { code, stdout, stderr };
}

/** The options that name the parts of a signed delivery; the body comes by stdin. */
function partsOf(signed: Partial<SignOptions> = {}): string[] {
  const { headers } = sign(BODY, { secret: SECRET, at: AT, ...signed });
  const [timestamp = '', id = '', signature = ''] = Object.values(headers);
  return ['--body', '-', '--timestamp', timestamp, '--id', id, '--signature', signature];
}

/** The same as a file of headers beside a body. */
async function saveDelivery(lines: readonly string[] = [], body: string = BODY): Promise<string[]> {
  const { headers } = sign(BODY, { secret: SECRET, at: AT });
  const saved = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  await writeFile(join(folder, 'headers.txt'), `POST / HTTP/1.1\r\n${[...saved, ...lines].join('\r\n')}\r\n`);
  await writeFile(join(folder, 'body.json'), body);
  return ['--body', 'body.json', '--headers', 'headers.txt'];
}

describe('vloc webhooks verify', () => {
  it('reports a genuine delivery, and its form', async () => {
    const plain = await run(partsOf(), { stdin: BODY });
    expect([plain.code, plain.stdout]).toEqual([
      0,
      `Genuine: ${EVENT_ID}, signed 0 s ago in the newline form.\n`,
    ]);
    const dotted = await run([...partsOf({ joint: '.' }), '-o', 'json'], { stdin: BODY });
    expect(JSON.parse(dotted.stdout)).toEqual({
      valid: true,
      event_id: EVENT_ID,
      form: 'dot',
      age_seconds: 0,
    });
    expect((await run([...partsOf({ joint: '.' }), '--form', 'newline'], { stdin: BODY })).code).toBe(1);
  });

  it('uses the header prefix of the service', async () => {
    const { headers } = sign(BODY, { secret: SECRET, at: AT, prefix: 'X-Acme' });
    const saved = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const words = await saveDelivery();
    await writeFile(join(folder, 'headers.txt'), saved.join('\n'));
    expect((await run(words)).stderr).toContain(
      'webhook rejected: header x-service-webhook-timestamp is missing',
    );
    expect((await run([...words, '--header-prefix', 'X-Acme'])).code).toBe(0);
    expect((await run(words, { env: { VLOC_HEADER_PREFIX: 'X-Acme' } })).code).toBe(0);
  });

  it.each([
    [`${BODY}\n`, 'signed without the line break'],
    [JSON.stringify(JSON.parse(BODY), null, 2), 'parsed and serialized again'],
    [BODY.replace('dub_1', 'dub_2'), 'not the API secret'],
  ])('refuses a changed body, and says how it was changed', async (body, advice) => {
    const { code, stderr } = await run(await saveDelivery([], body));
    expect([code, stderr]).toEqual([1, expect.stringContaining(advice)]);
  });

  it('reads a secret with a line break at its end without it, and says so', async () => {
    const words = await saveDelivery();
    const piped = await run([...words, '--secret-stdin'], {
      stdin: `${SECRET}\n`,
      env: { VLOC_WEBHOOK_SECRET: 'x' },
    });
    expect([piped.code, piped.stderr]).toEqual([0, expect.stringContaining('line break')]);
    expect((await run(words, { env: { VLOC_WEBHOOK_SECRET: `${SECRET}\n` } })).code).toBe(0);
    expect((await run([...words, '--secret-stdin'], { stdin: `${SECRET}\n\n` })).code).toBe(4);
  });
});
