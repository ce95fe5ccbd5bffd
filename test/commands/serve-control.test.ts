import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { CONTROL_LIST } from '../../src/service/control/operations.ts';
import { exchange } from '../service/harness/caller.ts';
import { makeStateDir, until } from '../service/harness/scene.ts';
import { createTestIo } from '../support/test-io.ts';

let stateDir = '';
beforeEach(async () => {
  stateDir = await makeStateDir();
});

const ioFor = () => createTestIo({ env: { VLOC_STATE_DIR: stateDir } });

/** Runs `vloc serve --control` until its first output; `stop` is what a supervisor does. */
async function serve(...words: string[]) {
  const test = ioFor();
  const ended = main(['serve', '--control', ...words], test.io);
  const stdout = await until(test.stdout, (text) => text.includes('\n'));
  const stop = () => {
    test.send('SIGTERM');
    return ended;
  };
  return { stdout, stderr: test.stderr, stop };
}

async function control(...words: string[]) {
  const { io, stdout, stderr } = ioFor();
  const code = await main(['serve', 'control', ...words], io);
  return { code, stdout: stdout(), stderr: stderr() };
}

const read = async (...words: string[]) => JSON.parse((await control(...words, '--output', 'json')).stdout);

it('prints its address and token on the first line, and its commands find it through the state folder', async () => {
  const { stdout, stderr, stop } = await serve('--output', 'json');
  const { control_url: url, control_token: token } = JSON.parse(stdout);
  const answer = await exchange(`${url}/clock`, { headers: { Authorization: `Bearer ${token}` } });
  expect(answer.json.offset_seconds).toBe(0);
  expect(await read('clock', 'advance', '25h')).toMatchObject({ frozen: false, offset_seconds: 90_000 });
  await until(stderr, (text) => text.includes('clock, credits and keys are not reliable'));
  expect(stderr()).not.toContain(token);
  expect(await stop()).toBe(0);
});

it('reads fields from options, operands, --data and files', async () => {
  const { stop } = await serve('--output', 'plain');
  const words = ['--on', 'POST /dubbings', '--status', '503', '--retry-after', '2', '--times', 'always'];
  const fault = { on: 'POST /dubbings', status: 503, retry_after: 2, times: 'always' };
  expect((await read('faults', 'add', ...words)).data).toEqual([fault]);
  const file = join(stateDir, 'faults.json');
  await writeFile(file, '[{"on": "GET /credits", "body": "{", "headers": {"X-A": "b"}}]');
  const [set] = (await read('faults', 'set', `@${file}`)).data;
  expect(set).toEqual({ on: 'GET /credits', body: '{', headers: { 'X-A': 'b' }, times: 1 });

  const rules = '{"rate": {"requests": 1, "window_seconds": 2}, "permissions": ["dubbing"]}';
  const { key } = await read('keys', 'create', '--data', rules, '--rate', '3/4');
  const [made] = (await read('keys', 'list')).data.filter((each: { key: string }) => each.key === key);
  expect(made).toMatchObject({ permissions: ['dubbing'], rate: { requests: 3, window_seconds: 4 } });
  const changed = await read(
    'keys',
    'change',
    key,
    '-d',
    '{"rate": null}',
    '--allowed-addresses',
    '192.0.2.7',
  );
  expect(changed).toMatchObject({ rate: null, allowed_addresses: ['192.0.2.7'], permissions: ['dubbing'] });
  await stop();
});

it('controls a workspace that --workspace names', async () => {
  const { stop } = await serve('--output', 'plain');
  const { id } = await read('workspaces', 'create', '--settings', '{"opening_credits": 5}');
  expect((await read('credits', 'grant', '2', '--workspace', id)).available_credits).toBe(7);
  expect((await control('credits', 'show', '--output', 'id')).stdout).toBe('100000\n');
  expect((await control('workspaces', 'close', id, '--output', 'id')).stdout).toBe(`${id}\n`);
  const { code, stderr } = await control('clock', 'show', '--workspace', id);
  expect([code, stderr]).toEqual([1, expect.stringContaining(`there is no workspace "${id}"`)]);
  await stop();
});

it('shows tables with exact times, and the fields that --fields names', async () => {
  const { stop } = await serve('--output', 'plain');
  expect((await control('clock', 'freeze')).stdout).toMatch(/^NOW .*\n\d{4}-\d{2}-\d{2}T[\d:.]+Z +true +/);
  expect((await control('keys', 'create', '--permissions', 'dubbing', '-o', 'id')).stdout).toMatch(
    /^vk_\S+\n$/,
  );
  expect((await control('keys', 'list')).stdout).toMatch(/\nvk_\S+ +dubbing +-/);
  expect(await control('keys', 'list', '--fields', 'rate,permissions')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"permissions": [\n        "dubbing"'),
  });
  await stop();
});

it('explains that no service with --control runs: exit code 4', async () => {
  const off = { code: 4, stderr: expect.stringContaining('Start the service with `vloc serve --control`') };
  expect(await control('clock', 'show')).toMatchObject(off);
  const { stop } = await serve('--output', 'plain');
  await stop();
  await expect(stat(join(stateDir, 'control.json'))).rejects.toThrow('ENOENT');
  // Left by a process that was killed.
  await writeFile(join(stateDir, 'control.json'), '{"url": "http://127.0.0.1:1", "token": "secret-token"}');
  const stale = await control('clock', 'show');
  expect(stale).toMatchObject(off);
  expect(stale.stderr).not.toContain('secret-token');
});

it.each([
  [['clock', 'advance', 'soon'], '<seconds> is not a time'],
  [['keys', 'create', '--rate', '5'], '--rate is not a rate'],
  [['keys', 'create', '--data', '[]'], '--data is not a JSON object'],
  [['faults', 'set', '{'], 'is not valid JSON'],
])('refuses %j with exit code 2 before anything is sent', async (words, message) => {
  const { stop } = await serve('--output', 'plain');
  const { code, stderr } = await control(...words);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  await stop();
});

it('explains that the service has another token', async () => {
  const { stdout, stop } = await serve('--output', 'json');
  const { control_url: url } = JSON.parse(stdout);
  await writeFile(join(stateDir, 'control.json'), JSON.stringify({ url, token: 'other' }));
  const { code, stderr } = await control('clock', 'show');
  expect([code, stderr]).toEqual([4, expect.stringContaining('has a different control token')]);
  await stop();
});

it('has a command for every operation', async () => {
  for (const { group, verb } of CONTROL_LIST) {
    const { code, stdout } = await control(group, verb, '--help');
    expect([code, stdout]).toEqual([0, expect.stringContaining(`vloc serve control ${group} ${verb}`)]);
  }
});

it('names the option of the port that is in use', async () => {
  const { stdout, stop } = await serve('--output', 'json');
  const { base_url: url, control_url: controlUrl } = JSON.parse(stdout);
  const refused = async (...words: string[]) => {
    const { io, stderr } = createTestIo({ env: { VLOC_STATE_DIR: await makeStateDir() } });
    expect(await main(['serve', '--control', ...words], io)).toBe(4);
    return stderr();
  };
  expect(await refused('--control-port', new URL(controlUrl).port)).toContain(
    'choose another --control-port',
  );
  expect(await refused('--control-port', '0', '--port', new URL(url).port)).toContain(
    'choose another --port',
  );
  await stop();
});

it('refuses one port for both interfaces', async () => {
  const { io, stderr } = ioFor();
  expect(await main(['serve', '--control', '--control-port', '4000', '--port', '4000'], io)).toBe(2);
  expect(stderr()).toContain('--control-port is also the port of the service');
});

it('needs --control for --control-port', async () => {
  const { io, stderr } = ioFor();
  expect(await main(['serve', '--control-port', '4000'], io)).toBe(2);
  expect(stderr()).toContain('--control-port was given without --control');
});
