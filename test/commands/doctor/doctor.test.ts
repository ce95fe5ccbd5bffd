import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it } from 'vitest';
import { startScene } from '../../service/harness/scene.ts';
import { startPlain, startSecure } from '../../service/outgoing/outside.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { oldFfmpegPath } from '../../support/old-ffmpeg.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { runMain, variablesIn } from '../../support/run-main.ts';
import { QUICK } from '../support/run-vloc.ts';

/** Longer than a test may take: no check runs into its limit because the machine is busy. */
const NO_HURRY_MS = 600_000;

let folder = '';
beforeEach(() => {
  folder = makeFolder();
});

async function run(env: Record<string, string> = {}, words: readonly string[] = ['-o', 'json']) {
  const all = { ...variablesIn(folder), PATH: rememberingPath(), LANG: 'C.UTF-8', ...env };
  return runMain(['doctor', ...words], { env: all, cwd: folder, checkMs: NO_HURRY_MS, pace: QUICK });
}

/** The checks by name. */
function checksOf(stdout: string): Record<string, { state: string; message: string; fix: string | null }> {
  const { checks } = JSON.parse(stdout);
  return Object.fromEntries(checks.map((check: { check: string }) => [check.check, check]));
}

/** A service elsewhere, which needs no engine of this machine. */
async function serviceEnv() {
  const { service, credentials } = await startScene();
  return {
    ...{ VLOC_BASE_URL: service.url, VLOC_KEY: credentials.key, VLOC_SECRET: credentials.secret },
    PATH: folder,
  };
}

describe('vloc doctor', () => {
  it('names the oldest ffmpeg that works, if an older one is installed', async () => {
    const { code, stdout } = await run({ PATH: oldFfmpegPath() });
    expect(code).toBe(4);
    expect(checksOf(stdout)['engine ffmpeg']).toMatchObject({
      state: 'fail',
      message: expect.stringMatching(/^4\.4\.2 is too old; the oldest that works is \d/),
      fix: expect.stringContaining('first in PATH'),
    });
  });

  it('finds nothing wrong with the embedded service on this machine', async () => {
    const { code, stdout } = await run();
    expect(code).toBe(0);
    const checks = checksOf(stdout);
    expect(checks.configuration?.message).toBe('the embedded service (default)');
    expect(checks.credentials?.message).toBe('accepted; 100000 credits available');
    expect(checks['engine ffmpeg']?.message).toMatch(/^\d+\.\d+\S* \(probe, separate, export\)$/);
    expect(checks.languages?.message).toMatch(/recognizes en; translates .*en-es.*; speaks \d+ languages/);
    expect(checks['state folder']?.message).toMatch(/state \(not created yet\), [\d.]+ [GT]B free$/);
    expect(checks.account).toMatchObject({ state: 'ok' });
    expect(Object.values(checks).map(({ state }) => state)).not.toContain('fail');
  });

  it('says if the sums of the account do not agree with its ledger', async () => {
    await runMain(['serve', 'keys', 'create', '-o', 'json'], {
      env: { VLOC_STATE_DIR: join(folder, 'state') },
    });
    const file = new DatabaseSync(join(folder, 'state', 'service.sqlite'));
    file.exec(`INSERT INTO monthly_use SELECT id, '2026-11', 5 FROM keys LIMIT 1`);
    file.close();
    const { code, stdout } = await run();
    expect(code).toBe(10);
    expect(checksOf(stdout).account).toMatchObject({
      state: 'fail',
      message: 'the sum of a month differs from its bills',
    });
  });

  it('asks a service elsewhere for time and credits, and prints no secret', async () => {
    const env = await serviceEnv();
    const table = await run(env, ['-o', 'table', '--verbose']);
    const { code, stdout, stderr } = await run(env, ['-o', 'json', '--verbose']);
    expect([table.code, code]).toEqual([0, 0]);
    expect(table.stdout + table.stderr + stdout + stderr).not.toContain(env.VLOC_SECRET);
    const checks = checksOf(stdout);
    expect(checks.clock).toMatchObject({ state: 'ok' });
    expect(checks.connection?.message).toMatch(/^127\.0\.0\.1 port \d+ accepts connections$/);
    expect(checks).not.toHaveProperty('TLS');
  });

  it('fails with 4 for credentials that the service does not know', async () => {
    const { code, stdout, stderr } = await run({ ...(await serviceEnv()), VLOC_SECRET: 'canary' });
    expect(code).toBe(4);
    expect(checksOf(stdout).credentials).toMatchObject({ state: 'fail', fix: expect.any(String) });
    expect(stdout + stderr).not.toContain('canary');
  });

  it('fails with 7 if nothing listens, and skips the checks that need it', async () => {
    const env = { VLOC_BASE_URL: 'http://127.0.0.1:1/v1', VLOC_KEY: 'k', VLOC_SECRET: 's', PATH: folder };
    const { code, stdout, stderr } = await run(env);
    expect(code).toBe(7);
    const checks = checksOf(stdout);
    expect(checks.connection).toMatchObject({ state: 'fail', message: expect.stringContaining('refuses') });
    expect(checks).not.toHaveProperty('clock');
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'CHECKS_FAILED', category: 'temporary' } });
  });

  it.each([
    ['settings that contradict each other', { VLOC_PROFILE: 'nobody' }, 'nobody'],
    ['a key without a service', { VLOC_KEY: 'k', VLOC_SECRET: 'canary' }, 'VLOC_BASE_URL'],
  ])('fails with 4 for %s, and still checks the rest', async (_, env, says) => {
    const { code, stdout } = await run({ ...env, PATH: folder });
    expect(code).toBe(4);
    const checks = checksOf(stdout);
    expect(checks.configuration?.state).toBe('fail');
    expect(JSON.stringify(checks.configuration)).toContain(says);
    expect(checks).not.toHaveProperty('credentials');
    expect(checks).toHaveProperty('engine ffmpeg');
    expect(stdout).not.toContain('canary');
  });

  it('on a build server without a service checks the machine, and says how to choose one', async () => {
    const { code, stdout } = await run({ CI: 'true' });
    expect(code).toBe(0);
    const checks = checksOf(stdout);
    expect(checks.configuration).toMatchObject({
      state: 'warn',
      fix: expect.stringContaining('VLOC_PROFILE'),
    });
    expect(checks).not.toHaveProperty('credentials');
    expect(checks['engine ffmpeg']).toMatchObject({ state: 'ok' });
  });

  it('fails with 10 if the state folder cannot be written', async () => {
    // Nobody, not even root, makes a file there.
    const { code, stdout } = await run({ ...(await serviceEnv()), VLOC_STATE_DIR: '/proc/self/vloc' });
    expect(code).toBe(10);
    expect(checksOf(stdout)['state folder']).toMatchObject({ state: 'fail', fix: expect.any(String) });
  });

  it('fails with 4 without the engines of the embedded service; a service elsewhere needs none', async () => {
    const { code, stdout } = await run({ PATH: folder });
    expect(code).toBe(4);
    const engine = checksOf(stdout)['engine ffmpeg'];
    expect(engine).toMatchObject({ state: 'fail', fix: 'vloc engines install' });
    expect(checksOf(stdout)['engine espeak-ng']).toMatchObject({ state: 'fail' });
    // Others speak English, too.
    expect(checksOf(stdout)['engine flite']).toMatchObject({
      state: 'ok',
      message: 'not installed; speaks English, clearer than espeak-ng (speak); vloc engines install --to en',
    });
    // Nor does a file for engines matter to it.
    await writeFile(join(folder, 'broken.json'), '{"translate": [}');
    const elsewhere = await run({ ...(await serviceEnv()), VLOC_ENGINES: join(folder, 'broken.json') });
    expect(elsewhere.code).toBe(0);
    expect(checksOf(elsewhere.stdout)).not.toHaveProperty('engines file');
    expect(checksOf(elsewhere.stdout)['engine ffmpeg']?.message).toContain('not needed');
  });

  it('warns of folders that others can enter, with the command that fixes it', async () => {
    await mkdir(join(folder, 'config'));
    await chmod(join(folder, 'config'), 0o755);
    const env = await serviceEnv();
    const { code, stdout } = await run(env, ['-o', 'plain']);
    expect(code).toBe(0);
    expect(stdout).toContain(`warn\tprivacy\t${join(folder, 'config')} is open to others (mode 755)`);
    const { stdout: shown } = await run(env, ['-o', 'table']);
    expect(shown).toContain(`→ chmod 700 '${join(folder, 'config')}'`);
    expect((await run(env, ['-o', 'id'])).stdout).toBe('privacy\n');
  });

  it('reports what is behind TLS, and an untrusted certificate is a configuration error', async () => {
    const trusted = await startSecure((_request, response) => response.writeHead(404).end());
    const env = { VLOC_BASE_URL: `${trusted.origin}/v1`, VLOC_KEY: 'k', VLOC_SECRET: 's', PATH: folder };
    const checks = checksOf((await run(env)).stdout);
    expect(checks.TLS?.message).toMatch(/^TLSv1\.3, certificate valid until /);
    expect(checks.clock).toMatchObject({ state: 'ok' });
    const misnamed = env.VLOC_BASE_URL.replace('127.0.0.1', 'localhost');
    const wrong = await run({ ...env, VLOC_BASE_URL: misnamed });
    expect(wrong.code).toBe(4);
    expect(checksOf(wrong.stdout).TLS?.message).toContain('has a certificate for another name');
  });

  it('names the proxy without its password, and checks the route to it', async () => {
    const proxy = await startPlain(() => {});
    const env = {
      VLOC_BASE_URL: 'https://service.invalid/v1',
      VLOC_KEY: 'k',
      VLOC_SECRET: 's',
      PATH: folder,
      HTTPS_PROXY: `http://user:canary@127.0.0.1:${proxy.port}`,
    };
    const { stdout, stderr } = await run(env);
    const checks = checksOf(stdout);
    expect(checks.proxy?.message).toBe(`127.0.0.1:${proxy.port}`);
    expect(checks['connection of the proxy']).toMatchObject({ state: 'ok' });
    expect(checks).not.toHaveProperty('name lookup');
    expect(stdout + stderr).not.toContain('canary');
  });

  it.each([
    ['http://user:100%canary@127.0.0.1:1', 'address', 4, 'HTTPS_PROXY is not the address', '%25'],
    [
      'http://127.0.0.1:1',
      'connection of the proxy',
      7,
      'the proxy 127.0.0.1:1 refuses',
      'Check HTTPS_PROXY',
    ],
    ['http://proxy.invalid:1', 'name lookup of the proxy', 7, 'the proxy proxy.invalid:1 ', 'HTTPS_PROXY'],
  ])('names the setting of a proxy that cannot be used: %s', async (address, check, exitCode, says, fix) => {
    const service = { VLOC_BASE_URL: 'https://service.invalid/v1', VLOC_KEY: 'k', VLOC_SECRET: 's' };
    const { code, stdout } = await run({ ...service, PATH: folder, HTTPS_PROXY: address });
    expect(code).toBe(exitCode);
    expect(checksOf(stdout)[check]).toMatchObject({
      state: 'fail',
      message: expect.stringContaining(says),
      fix: expect.stringContaining(fix),
    });
    expect(stdout).not.toContain('canary');
  });
});

describe('engines of engines.json', () => {
  async function configure(file: object | string): Promise<void> {
    const path = join(folder, 'config', 'engines.json');
    await mkdir(join(folder, 'config'), { mode: 0o700 });
    await writeFile(path, typeof file === 'string' ? file : JSON.stringify(file), { mode: 0o600 });
  }

  it('are checked: file, server, key, program and languages', async () => {
    const { origin } = await startPlain((_request, response) =>
      response.end(
        JSON.stringify([
          { code: 'en', targets: ['es'] },
          { code: 'es', targets: ['en'] },
        ]),
      ),
    );
    await configure({
      recognize: [{ type: 'openai', url: 'http://127.0.0.1:1/v1', model: 'large' }, 'pocketsphinx'],
      translate: [
        { type: 'libretranslate', url: origin },
        { type: 'libretranslate', url: origin, key: { env: 'LT_KEY' }, languages: ['en', 'fr'] },
      ],
    });
    const { code, stdout } = await run({ PATH: folder });
    expect(code).toBe(4);
    const checks = checksOf(stdout);
    expect(checks['engines file']).toMatchObject({
      state: 'ok',
      message: join(folder, 'config/engines.json'),
    });
    expect(checks['recognize with openai large']).toMatchObject({
      state: 'fail',
      message: '127.0.0.1 port 1 refuses connections',
      fix: 'Start the server, or correct its url.',
    });
    const [first, second] = JSON.parse(stdout).checks.filter(
      ({ check }: { check: string }) => check === 'translate with libretranslate',
    );
    expect(first).toMatchObject({ state: 'ok', message: 'can be reached; languages: 2' });
    expect(second).toMatchObject({ state: 'warn', message: 'the variable LT_KEY with its key is not set' });
  });

  it('make the built-in engine of a step unnecessary, or a fallback', async () => {
    const { origin } = await startPlain((_request, response) => response.end('[]'));
    const server = { type: 'openai', url: `${origin}/v1`, model: 'm', languages: ['es'] };
    await configure({ speak: [{ ...server, voices: { es: 'dora' } }], recognize: [server, 'pocketsphinx'] });
    // A path without any engine.
    const checks = checksOf((await run({ PATH: folder })).stdout);
    expect(checks['engine espeak-ng']).toMatchObject({
      state: 'ok',
      message: expect.stringContaining('not needed: other engines are configured'),
    });
    expect(checks['engine pocketsphinx']).toMatchObject({ state: 'warn', fix: 'vloc engines install' });
    expect(checks['engine apertium']).toMatchObject({ state: 'fail' });
    expect(checks['engine ffmpeg']).toMatchObject({ state: 'fail' });
  });

  it('fail the check of their file for a mistake in it, and the other checks still run', async () => {
    await configure('{"translate": [}');
    const { code, stdout } = await run({ PATH: folder });
    expect(code).toBe(4);
    const checks = checksOf(stdout);
    expect(checks['engines file']).toMatchObject({
      state: 'fail',
      message: expect.stringContaining('is not JSON: line 1, column 16'),
    });
    expect(checks).toHaveProperty('engine ffmpeg');
  });
});
