import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { eventBody, sign } from '../../client/webhooks/sign.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { runMain } from '../../support/run-main.ts';
import type { TestIoOptions } from '../../support/test-io.ts';

const SECRET = 'whsec_canary';
const AT = 1_795_197_845;
const BODY = eventBody('dub_1');

let folder = '';
beforeEach(async () => {
  folder = makeFolder();
});

async function run(words: readonly string[], options: TestIoOptions = {}) {
  const env = { VLOC_WEBHOOK_SECRET: SECRET, ...options.env };
  const settings = { cwd: folder, now: () => AT * 1000, ...options, env };
  const ended = await runMain(['webhooks', 'verify', ...words], settings);
  expect(ended.stdout + ended.stderr).not.toContain('canary');
  return ended;
}

/** A signed delivery as a file of headers beside a body. Returns the options that name them. */
async function saveDelivery(): Promise<string[]> {
  const { headers } = sign(BODY, { secret: SECRET, at: AT });
  const saved = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  await writeFile(join(folder, 'headers.txt'), `POST / HTTP/1.1\r\n${saved.join('\r\n')}\r\n`);
  await writeFile(join(folder, 'body.json'), BODY);
  return ['--body', 'body.json', '--headers', 'headers.txt'];
}

describe('vloc webhooks verify', () => {
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
