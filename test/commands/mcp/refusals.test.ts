/** Refused calls of every tool, through the client that compares their results with the schema of the tool. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { expect, test } from 'vitest';
import { connectEarlierAgent } from '../support/agent.ts';
import { startVloc } from '../support/run-vloc.ts';

interface Situation {
  readonly operand: string;
  readonly to?: string;
}

/** Between them they refuse each tool, those that need no service too. */
const SITUATIONS: Readonly<Record<string, Situation>> = {
  'the key is not accepted': { operand: 'talk.srt' },
  'the input does not exist': { operand: 'missing.srt' },
  'the language is not supported': { operand: 'talk.srt', to: 'tlh' },
  'the path is outside the folders': { operand: '../elsewhere' },
};

type Schema = Awaited<ReturnType<EarlierClient['listTools']>>['tools'][number]['inputSchema'];

/** Arguments that the schema of a tool admits; operands are inputs, ids or folders. */
function argumentsFor(schema: Schema, { operand, to = 'es' }: Situation): Record<string, unknown> {
  const values = { inputs: [operand], ids: [operand], dirs: [operand], from: 'en', to: [to] };
  const names = Object.keys(schema.properties ?? {});
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
}

test('a refused call of any tool returns a result as its schema says, with the code and the message', async () => {
  const vloc = await startVloc();
  for (const name of ['in', 'out']) await mkdir(join(vloc.folder, name));
  await writeFile(join(vloc.folder, 'in/talk.srt'), '1\n00:00:00,000 --> 00:00:01,000\nhello\n');
  // The list of engines needs no key; nothing else reads this file for a service elsewhere.
  const scene = { ...vloc, env: { ...vloc.env, VLOC_SECRET: 'wrong', VLOC_ENGINES: 'talk.srt' } };
  const client = await connectEarlierAgent(scene, ['--read', 'in', '--write', 'out']);
  const { tools } = await client.listTools();
  const refused = new Set<string>();
  const calls = Object.entries(SITUATIONS).flatMap(([situation, given]) =>
    tools.map((tool) => ({ ...tool, given, what: `${tool.name}, when ${situation}` })),
  );
  for (const { name, inputSchema, given, what } of calls) {
    const call = client.callTool({ name, arguments: argumentsFor(inputSchema, given) });
    const { isError, structuredContent, content } = await call.catch((error) => {
      throw new Error(`${what}: ${error}`);
    });
    if (isError !== true) continue;
    const failure = { code: expect.stringMatching(/^[A-Z_]+$/), message: expect.any(String) };
    expect(structuredContent, what).toMatchObject({ error: failure });
    const [first] = content as { text: string }[]; // results of tools begin with text
    expect(JSON.parse(first?.text ?? '')).toEqual(structuredContent);
    refused.add(name);
  }
  expect([...refused].sort()).toEqual(tools.map(({ name }) => name).sort());
});
