/** What `vloc mcp` answers to lines, as an agent without a library of the protocol writes them. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { startMcp } from '../support/agent.ts';
import { startVloc } from '../support/run-vloc.ts';

const PING = { jsonrpc: '2.0', method: 'ping' } as const;
const ask = (id: number | string) => ({ ...PING, id });
const pong = (id: number | string) => ({ jsonrpc: '2.0', id, result: {} });
const refusal = (code: number, message: unknown, id: number | string | null = null) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});
const NOTIFICATION = {
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken: 1, progress: 1 },
};

/** A server that has agreed on a version. `exchange` writes a line and returns the answers until that to a ping after it. */
async function startLines(protocolVersion: string) {
  const vloc = await startVloc();
  await mkdir(join(vloc.folder, 'out'));
  const { stdin, stdout } = startMcp(vloc, ['--write', 'out']);
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const read = async () => JSON.parse((await lines.next()).value ?? '');
  const write = (value: unknown) =>
    stdin.write(typeof value === 'string' ? `${value}\n` : `${JSON.stringify(value)}\n`);
  const clientInfo = { name: 'raw', version: '1' };
  write({
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion, capabilities: {}, clientInfo },
  });
  expect((await read()).result.protocolVersion).toBe(protocolVersion);
  write({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const exchange = async (value: unknown) => {
    write(value);
    write(ask('last'));
    const answers: unknown[] = [];
    for (let answer = await read(); answer.id !== 'last'; answer = await read()) answers.push(answer);
    return answers;
  };
  return { exchange };
}

const NEWER = '2025-06-18';
const WITH_BATCHES = '2025-03-26';

test('a line that is no message or too long is answered with an error, one that asks nothing is not, and the server continues', async () => {
  const { exchange } = await startLines(NEWER);
  for (const [line, answer] of [
    ['this is no message', refusal(-32_700, 'the line is not JSON')],
    ['{"jsonrpc":"2.0","id":1,', refusal(-32_700, 'the line is not JSON')],
    ['7', refusal(-32_600, 'expected a message of JSON-RPC 2.0')],
    [{ id: 7, method: 'ping' }, refusal(-32_600, 'expected a message of JSON-RPC 2.0', 7)],
    [[ask(1)], refusal(-32_600, expect.stringContaining(WITH_BATCHES))],
  ])
    expect(await exchange(line)).toEqual([answer]);
  const long = JSON.stringify({ ...ask(1), params: { text: 'a'.repeat(11 * 1024 ** 2) } });
  expect(await exchange(long)).toEqual([refusal(-32_600, 'the message is longer than 10.5 MB')]);
  const short = { ...ask(1), params: { text: 'a'.repeat(9 * 1024 ** 2) } };
  expect(await exchange(short)).toEqual([pong(1)]);
  for (const line of ['', '  ', { id: 1, result: {} }, { id: 1, error: 'x' }, NOTIFICATION])
    expect(await exchange(line)).toEqual([]);
});

test('the requests of a batch are answered together where the agreed version has batches, without a cancelled one', async () => {
  const { exchange } = await startLines(WITH_BATCHES);
  expect(await exchange([ask(1), NOTIFICATION, 7, ask('b')])).toEqual([
    [refusal(-32_600, 'expected a message of JSON-RPC 2.0'), pong(1), pong('b')],
  ]);
  expect(await exchange([7])).toEqual([[refusal(-32_600, expect.any(String))]]);
  expect(await exchange([NOTIFICATION])).toEqual([]);
  expect(await exchange([])).toEqual([refusal(-32_600, expect.any(String))]);
  const call = { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'credits', arguments: {} } };
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } };
  expect(await exchange([ask(1), call, cancel])).toEqual([[pong(1)]]);
});
