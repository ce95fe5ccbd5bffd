/** Refused calls of every tool, through the client that compares their results with the schema of the tool. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { expect, test } from 'vitest';
import { connectEarlierAgent } from '../support/agent.ts';
import { startVloc } from '../support/run-vloc.ts';

type Schema = Awaited<ReturnType<EarlierClient['listTools']>>['tools'][number]['inputSchema'];

/** Arguments that the schema of a tool admits, with a path outside the folders, which is no id either. */
function argumentsFor(schema: Schema): Record<string, unknown> {
  const paths = ['../elsewhere'];
  const values = { inputs: paths, ids: paths, dirs: paths, from: 'en', to: ['es'] };
  const names = Object.keys(schema.properties ?? {});
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
}

test('a refused call of any tool returns a result as its schema says, with the code and the message', async () => {
  const vloc = await startVloc();
  for (const name of ['in', 'out']) await mkdir(join(vloc.folder, name));
  await writeFile(join(vloc.folder, 'no-engines.json'), '');
  // The list of engines needs no key; nothing else reads this file for a service elsewhere.
  const scene = { ...vloc, env: { ...vloc.env, VLOC_SECRET: 'wrong', VLOC_ENGINES: 'no-engines.json' } };
  const client = await connectEarlierAgent(scene, ['--read', 'in', '--write', 'out']);
  const { tools } = await client.listTools();
  for (const { name, inputSchema } of tools) {
    const call = client.callTool({ name, arguments: argumentsFor(inputSchema) });
    const { isError, structuredContent, content } = await call.catch((error) => {
      throw new Error(`${name}: ${error}`);
    });
    expect([name, isError]).toEqual([name, true]);
    const failure = { code: expect.stringMatching(/^[A-Z_]+$/), message: expect.any(String) };
    expect(structuredContent, name).toMatchObject({ error: failure });
    const [first] = content as { text: string }[]; // results of tools begin with text
    expect(JSON.parse(first?.text ?? '')).toEqual(structuredContent);
  }
});
