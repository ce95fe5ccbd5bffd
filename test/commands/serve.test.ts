import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { send } from '../service/harness/caller.ts';
import { makeStateDir, startScene, until } from '../service/harness/scene.ts';
import { createTestIo } from '../support/test-io.ts';

let stateDir = '';
beforeEach(async () => {
  stateDir = await makeStateDir();
});

/** Runs `vloc serve` until its first line stands on stdout; `stop` is what a supervisor does. */
async function serve(...words: string[]) {
  const test = createTestIo({ env: { VLOC_STATE_DIR: stateDir } });
  const ended = main(['serve', ...words], test.io);
  const line = await until(test.stdout, (text) => text.includes('\n'));
  const stop = () => {
    test.send('SIGTERM');
    return ended;
  };
  return { line: line.split('\n', 1)[0] ?? '', stderr: test.stderr, stop };
}

async function refuse(...words: string[]) {
  const { io, stderr } = createTestIo({ env: { VLOC_STATE_DIR: stateDir } });
  const code = await main(['serve', ...words], io);
  return { code, stderr: stderr() };
}

describe('vloc serve', () => {
  it('takes its settings from the file, and options over them', async () => {
    const file = join(stateDir, 'service.json');
    await writeFile(file, '{"public_origin":"https://file.example","header_prefix":"X-Vendor"}');
    const { line, stop } = await serve(
      '--config',
      file,
      '--public-origin',
      'https://flag.example',
      '-o',
      'plain',
    );
    expect(line).toBe('https://flag.example/v1');
    expect(await stop()).toBe(0);
  });

  it('logs each request as JSON where no terminal looks, without secrets and queries', async () => {
    const { line, stderr, stop } = await serve('--output', 'json');
    const { base_url: url, secret } = JSON.parse(line);
    expect((await send(`${url}/uploads?cursor=canary`)).status).toBe(400);
    const metrics = await send(`${new URL(url).origin}/metrics`);
    expect(metrics.bytes.toString()).toContain('vloc_requests_total{operation="listUploads"');
    expect(await stop()).toBe(0);
    const entries = stderr()
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    const requests = entries.filter(({ message }) => message === 'request');
    expect(requests).toMatchObject([{ path: '/v1/uploads', status: 400, key_id: null }]);
    expect(stderr()).not.toContain('canary');
    expect(stderr()).not.toContain(secret);
  });

  it('logs lines for people when asked', async () => {
    const { line, stderr, stop } = await serve('--output', 'plain', '--log', 'text');
    await send(`${line}/credits`);
    await stop();
    expect(stderr()).toMatch(/^\d\d:\d\d:\d\d GET \/v1\/credits 400 \d+ ms - req_/m);
  });
});

describe('what stands in the way of a start', () => {
  it('is named: a setting of the file with exit code 4, an option with 2', async () => {
    const file = join(stateDir, 'service.json');
    await writeFile(file, '{"prices":{"dubbing":"free"}}');
    const byFile = await refuse('--config', file);
    expect(byFile.code).toBe(4);
    expect(byFile.stderr).toContain('prices.dubbing: must be a number');
    const byOption = await refuse('--trusted-proxy', 'proxy.example');
    expect(byOption.code).toBe(2);
    expect(byOption.stderr).toContain('--trusted-proxy: neither an IP address nor a network');
    expect((await refuse('--config', join(stateDir, 'none.json'))).code).toBe(4);
  });

  it('is an address that is taken: exit code 4 and what to do', async () => {
    const { service } = await startScene();
    const { code, stderr } = await refuse('--port', new URL(service.url).port);
    expect(code).toBe(4);
    expect(stderr).toContain('choose another --port');
  });
});
