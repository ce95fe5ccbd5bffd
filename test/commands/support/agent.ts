/** An agent that is connected to `vloc mcp` in this process: the same messages over streams in memory. */
import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { onTestFinished } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { createTestIo } from '../../support/test-io.ts';
import { LIMITS } from '../jobs/limits.ts';
import { QUICK, type VlocScene } from './run-vloc.ts';

/** @param flags of `vloc mcp`; the server ends with the test */
export async function connectAgent(
  { folder, env }: Pick<VlocScene, 'folder' | 'env'>,
  flags: readonly string[],
): Promise<Client> {
  const variables = { PATH: rememberingPath(), ...env };
  const { io, stderr } = createTestIo({ cwd: folder, env: variables, pace: QUICK, limits: LIMITS });
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const ended = main(['mcp', ...flags], { ...io, stdin, stdout });
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(async () => {
    await client.close();
    stdin.end();
    await ended;
  });
  // It reads and writes lines, which is all that the two ends have in common with a process.
  const connected = client.connect(new StdioServerTransport(stdout, stdin));
  const code = await Promise.race([connected, ended]);
  if (code !== undefined) throw new Error(`vloc mcp ended with ${code}: ${stderr()}`);
  return client;
}
