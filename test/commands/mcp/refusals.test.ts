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
  readonly env?: Readonly<Record<string, string>>;
}

/** Each refuses some of the tools. */
const SITUATIONS: Readonly<Record<string, Situation>> = {
  'the key is not accepted': { operand: 'talk.srt', env: { VLOC_SECRET: 'wrong' } },
  'the input cannot be used': { operand: 'talk.mp4' },
  'the input does not exist': { operand: 'missing.srt' },
  'the language is not supported': { operand: 'talk.srt', to: 'tlh' },
  'the path is outside the folders': { operand: '../elsewhere' },
  'the engines are not configured correctly': { operand: 'talk.srt', env: { VLOC_ENGINES: 'talk.srt' } },
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
  await writeFile(join(vloc.folder, 'in/talk.mp4'), 'not a video');
  const offered = new Set<string>();
  const refused = new Set<string>();
  for (const [situation, { env = {}, ...given }] of Object.entries(SITUATIONS)) {
    const scene = { ...vloc, env: { ...vloc.env, ...env } };
    const client = await connectEarlierAgent(scene, ['--read', 'in', '--write', 'out']);
    for (const { name, inputSchema } of (await client.listTools()).tools) {
      offered.add(name);
      const call = client.callTool({ name, arguments: argumentsFor(inputSchema, given) });
      const { isError, structuredContent, content } = await call.catch((error) => {
        throw new Error(`${name}, when ${situation}: ${error}`);
      });
      if (isError !== true) continue;
      const failure = { code: expect.stringMatching(/^[A-Z_]+$/), message: expect.any(String) };
      expect(structuredContent, `${name}, when ${situation}`).toMatchObject({ error: failure });
      const [first] = content as { text: string }[]; // results of tools begin with text
      expect(JSON.parse(first?.text ?? '')).toEqual(structuredContent);
      refused.add(name);
    }
  }
  expect([...refused].sort()).toEqual([...offered].sort());
});
