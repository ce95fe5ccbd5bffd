/** Agents that are connected to `vloc mcp` in this process: the same messages over streams in memory. */
import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioServerTransport as EarlierTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { onTestFinished } from 'vitest';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { startMain } from '../../support/run-main.ts';
import { LIMITS } from '../jobs/limits.ts';
import { QUICK, type VlocScene } from './run-vloc.ts';

type Scene = Pick<VlocScene, 'folder' | 'env'>;

interface StartedMcp {
  readonly stdin: PassThrough;
  readonly stdout: PassThrough;
  /** Rejects if it ends before the work does. */
  whileItRuns<T>(work: Promise<T>): Promise<T>;
}

/** @param flags of `vloc mcp`, which ends with the test */
export function startMcp({ folder, env }: Scene, flags: readonly string[]): StartedMcp {
  const variables = { PATH: rememberingPath(), ...env };
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const options = { cwd: folder, env: variables, pace: QUICK, limits: LIMITS, stdin, stdout };
  const { ended } = startMain(['mcp', ...flags], options);
  onTestFinished(async () => {
    stdin.end();
    await ended;
  });
  const endEarly = async () => {
    const { code, stderr } = await ended;
    throw new Error(`vloc mcp ended with ${code}: ${stderr}`);
  };
  return { stdin, stdout, whileItRuns: (work) => Promise.race([work, endEarly()]) };
}

/** @param flags of `vloc mcp` */
export async function connectAgent(scene: Scene, flags: readonly string[]): Promise<Client> {
  const { stdin, stdout, whileItRuns } = startMcp(scene, flags);
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(() => client.close());
  // It reads and writes lines, which is all that the two ends have in common with a process.
  await whileItRuns(client.connect(new StdioServerTransport(stdout, stdin)));
  return client;
}

/** The client that most agents still use: it compares the results of refused calls with the schema, too. */
export async function connectEarlierAgent(scene: Scene, flags: readonly string[]): Promise<EarlierClient> {
  const { stdin, stdout, whileItRuns } = startMcp(scene, flags);
  const client = new EarlierClient({ name: 'test', version: '1' });
  onTestFinished(() => client.close());
  await whileItRuns(client.connect(new EarlierTransport(stdout, stdin)));
  return client;
}
