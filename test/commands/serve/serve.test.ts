import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import { createCaller, exchange, send } from '../../service/harness/caller.ts';
import { startScene, until } from '../../service/harness/scene.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { runMain, startMain } from '../../support/run-main.ts';

/** Refuses every write, as `> /dev/full`. */
const brokenStdout = () =>
  new Writable({
    autoDestroy: false,
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('no space'), { code: 'ENOSPC' })),
  });

let stateDir = '';
beforeEach(async () => {
  stateDir = makeFolder();
});

/** Runs `vloc serve` until its first line is on stdout; `stop` is what a supervisor does. */
async function serve(...words: string[]) {
  const { stdout, stderr, send, ended } = startMain(['serve', ...words], {
    env: { VLOC_STATE_DIR: stateDir },
  });
  const line = await until(stdout, (text) => text.includes('\n'));
  const stop = async () => {
    send('SIGTERM');
    return (await ended).code;
  };
  return { line: line.split('\n', 1)[0] ?? '', stdout, stderr, stop };
}

/** Runs a command that ends by itself. */
function callIn(env: Record<string, string>, ...words: string[]) {
  return runMain(['serve', ...words], { env: { VLOC_STATE_DIR: stateDir, ...env } });
}

const call = (...words: string[]) => callIn({}, ...words);

describe('vloc serve', () => {
  it('accepts no password in an option, where other users can see it', async () => {
    for (const url of ['postgres://vloc:hidden@db.example/vloc', 'postgres:///vloc?password=hidden']) {
      const { code, stderr } = await call('--database', url);
      expect(code).toBe(2);
      expect(stderr).toContain('Set VLOC_DATABASE');
      expect(stderr).not.toContain('hidden');
    }
  });

  it('refuses a role that is unknown, that lacks a database, or that opens no port but has one set', async () => {
    const database = { VLOC_DATABASE: 'postgres://vloc@127.0.0.1:1/vloc' };
    const cases = [
      {
        words: [],
        env: { VLOC_ROLE: 'boss' },
        code: 4,
        says: 'VLOC_ROLE is not a role (api, worker, all): boss',
      },
      { words: [], env: { VLOC_ROLE: 'api' }, code: 4, says: 'the role api needs a database' },
      { words: ['--role', 'worker'], env: {}, code: 4, says: 'the role worker needs a database' },
      {
        words: ['--role', 'worker', '--port', '80'],
        env: database,
        code: 2,
        says: '--port was given for a worker',
      },
      { words: ['--role', 'worker'], env: database, code: 4, says: 'nothing listens there' },
    ];
    for (const { words, env, code, says } of cases) {
      expect(await callIn(env, ...words)).toMatchObject({ code, stderr: expect.stringContaining(says) });
    }
  });

  it('needs no readable engines.json as an API node, which has no engines', async () => {
    await mkdir(join(stateDir, 'engines.json'));
    const env = { VLOC_DATABASE: 'postgres://vloc@127.0.0.1:1/vloc', VLOC_CONFIG_DIR: stateDir };
    for (const [role, says] of [
      ['api', 'nothing listens there'],
      ['worker', 'engines.json is not a file'],
    ] as const) {
      expect(await callIn(env, '--role', role)).toMatchObject({
        code: 4,
        stderr: expect.stringContaining(says),
      });
    }
  });

  it.each([
    ['s3://key:hidden@videos', 'STORAGE_INVALID', 'a user or a password'],
    ['s3://videos', 'STORAGE_NO_CREDENTIALS', 'AWS_SECRET_ACCESS_KEY'],
  ])('refuses unusable storage before it listens: %s', async (storage, errorCode, words) => {
    const database = ['--database', 'postgres://vloc@127.0.0.1:1/vloc'];
    const { code, stderr } = await call('--storage', storage, ...database, '-o', 'json');
    expect(code).toBe(4);
    expect(stderr).toContain(errorCode);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain('hidden');
  });

  it('refuses storage in a bucket without a database', async () => {
    const { code, stderr } = await call('--storage', 's3://videos');
    expect(code).toBe(4);
    expect(stderr).toContain('Name a PostgreSQL database too, with --database or VLOC_DATABASE');
  });

  it('reads its settings from the file, and options override them', async () => {
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

  it('logs each request as JSON without a terminal, without secrets and queries', async () => {
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

  it('answers for --shutdown-delay after the first signal, while it is not ready, until the second one', async () => {
    const { line, stderr, stop } = await serve('--shutdown-delay', '10m', '--output', 'plain');
    const ended = stop();
    await until(stderr, (text) => text.includes('a second signal ends this now'));
    expect((await send(`${new URL(line).origin}/readyz`)).status).toBe(503);
    expect((await send(`${line}/openapi.json`)).status).toBe(200);
    void stop();
    expect(await ended).toBe(0);
  });

  it('refuses times and ports that it cannot use, and names the variable or the option', async () => {
    const cases = [
      { words: [], env: { VLOC_DRAIN: 'soon' }, code: 4, says: 'VLOC_DRAIN is not a time such as 90s' },
      {
        words: [],
        env: { VLOC_METRICS_PORT: '70000' },
        code: 4,
        says: 'VLOC_METRICS_PORT is not a whole number',
      },
      { words: ['--metrics-port', '1'], env: {}, code: 2, says: '--metrics-port is for workers' },
      { words: ['--metrics-from', 'x'], env: {}, code: 2, says: '--metrics-from: neither an IP address' },
    ];
    for (const { words, env, code, says } of cases) {
      expect(await callIn(env, ...words)).toMatchObject({ code, stderr: expect.stringContaining(says) });
    }
  });

  it('shows the secrets of its first key once, at the start that creates it', async () => {
    const first = await serve('--output', 'json');
    const shown = JSON.parse(first.line);
    expect(await first.stop()).toBe(0);
    const signed = { key: shown.key, secret: shown.secret };
    expect(shown.webhook_secret).toMatch(/^[\w-]{40,}$/);

    const second = await serve('--output', 'json');
    const { base_url, ...rest } = JSON.parse(second.line);
    expect(rest).toEqual({ key: shown.key, secret: null, webhook_secret: null });
    // The key continues to work for callers with its secret.
    expect((await createCaller(base_url, signed, Date.now).get('/v1/credits')).status).toBe(200);
    await until(second.stderr, (text) => text.includes(`vloc serve keys create --state-dir ${stateDir}`));
    await second.stop();

    const third = await serve();
    expect(third.stdout()).toContain(`VLOC_KEY=${shown.key}`);
    await third.stop();
    const said = [second, third].map(({ stdout, stderr }) => stdout() + stderr()).join('\n');
    expect(said).not.toContain(shown.secret);
    expect(said).not.toContain(shown.webhook_secret);
    expect(said).not.toContain('VLOC_SECRET');
  });

  it('creates no key if only its address is requested, and says so', async () => {
    const plain = await serve('--output', 'plain');
    await until(plain.stderr, (text) => text.includes('no key works; create one with'));
    await plain.stop();
    const shown = await serve('--output', 'json');
    expect(JSON.parse(shown.line).secret).not.toBeNull();
    await shown.stop();
    const named = await serve('--output', 'id');
    expect(named.line).toBe(JSON.parse(shown.line).key);
    await named.stop();
  });
});

describe('a first start that fails', () => {
  /** What the start after it shows. */
  async function startAgain() {
    const { line, stop } = await serve('--output', 'json');
    await stop();
    return JSON.parse(line);
  }

  it('keeps no key if the address is in use', async () => {
    const { service } = await startScene();
    expect((await call('--port', new URL(service.url).port, '--output', 'json')).code).toBe(4);
    const { key, secret } = await startAgain();
    expect((await call('keys', 'list', '--output', 'id')).stdout).toBe(`${key}\n`);
    expect(secret).toMatch(/^[\w-]{40,}$/);
  });

  it('keeps no key if its secret would not be shown', async () => {
    const byId = await call('--output', 'id');
    expect([byId.code, byId.stderr]).toEqual([2, expect.stringContaining('would lose the secret')]);
    expect((await call('--jq', '.key |')).code).toBe(2);
    const { code, stderr } = await call('--jq', '.key.nothing');
    expect(code).toBe(2);
    expect(stderr).toContain('the jq expression does not fit the data');
    expect(stderr).toContain('The key was not stored');
    expect((await startAgain()).secret).not.toBeNull();
  });

  it('keeps no key if stdout cannot be written', async () => {
    const broken = { env: { VLOC_STATE_DIR: stateDir }, stdout: brokenStdout() };
    const { code, stderr } = await runMain(['serve'], broken);
    expect(code).toBe(10);
    expect(stderr).toContain('The key was not stored');
    expect((await startAgain()).secret).not.toBeNull();
  });
});

describe('vloc serve --control', () => {
  it('prints its address and token on the first line, and the token nowhere else', async () => {
    const { line, stderr, stop } = await serve('--control', '--output', 'json');
    const { control_url: url, control_token: token } = JSON.parse(line);
    const answer = await exchange(`${url}/clock`, { headers: { Authorization: `Bearer ${token}` } });
    expect(answer.json.offset_seconds).toBe(0);
    await until(stderr, (text) => text.includes('clock, credits and keys are not reliable'));
    expect(stderr()).not.toContain(token);
    expect(await stop()).toBe(0);
  });

  it('names the option of the port that is in use', async () => {
    const { line, stop } = await serve('--control', '--output', 'json');
    const [port, controlPort] = ['base_url', 'control_url'].map(
      (name) => new URL(JSON.parse(line)[name]).port,
    );
    for (const [words, option] of [
      [['--control-port', controlPort], '--control-port'],
      [['--control-port', '0', '--port', port], '--port'],
    ] as const) {
      const env = { VLOC_STATE_DIR: makeFolder() };
      const { code, stderr } = await callIn(env, '--control', ...words.map(String));
      expect([code, stderr]).toEqual([4, expect.stringContaining(`choose another ${option}`)]);
    }
    await stop();
  });

  it.each([
    [
      ['--control', '--control-port', '4000', '--port', '4000'],
      '--control-port is also the port of the service',
    ],
    [['--control-port', '4000'], '--control-port was given without --control'],
  ])('refuses %j', async (words, reason) => {
    const { code, stderr } = await call(...words);
    expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
  });
});
