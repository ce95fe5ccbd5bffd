import { beforeEach, expect, it } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { exchange } from '../../service/harness/caller.ts';
import { makeStateDir, until } from '../../service/harness/scene.ts';
import { createTestIo } from '../../support/test-io.ts';

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

it('prints its address and token on the first line, and the token nowhere else', async () => {
  const { stdout, stderr, stop } = await serve('--output', 'json');
  const { control_url: url, control_token: token } = JSON.parse(stdout);
  const answer = await exchange(`${url}/clock`, { headers: { Authorization: `Bearer ${token}` } });
  expect(answer.json.offset_seconds).toBe(0);
  await until(stderr, (text) => text.includes('clock, credits and keys are not reliable'));
  expect(stderr()).not.toContain(token);
  expect(await stop()).toBe(0);
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
