/** A client that a generator of others makes from the document, with the code of docs/library.md around it. */
import { execFile } from 'node:child_process';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { makeStateDir, startScene } from '../../service/harness/scene.ts';

const PACKAGES = join(import.meta.dirname, '../../../node_modules');
const page = await readFile(new URL('../../../docs/library.md', import.meta.url), 'utf8');

const COMPILER_OPTIONS = {
  target: 'ES2024',
  lib: ['ES2024', 'DOM', 'DOM.Iterable'],
  module: 'NodeNext',
  types: ['node'],
  strict: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noPropertyAccessFromIndexSignature: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
  skipLibCheck: true,
};

/** Each comment is itself an error for the compiler when the line below it compiles. */
const MISTAKES = `
import { createDubbing, getDubbing, listDubbings, type AutoLocalization } from './client.js';

const subtitle = { type: 'upload', upload_id: 'upl_1' } as const;
export const right = { subtitle, target_language: 'es', callback_url: 'https://example.com/' };
void createDubbing('k', right);
export const size = (job: AutoLocalization) => job.result?.video.size_bytes;
// @ts-expect-error the address is a text
void createDubbing('k', { ...right, callback_url: 3 });
// @ts-expect-error nothing is dubbed without a language
void createDubbing('k', { subtitle });
// @ts-expect-error no job has this status
void listDubbings({ status: 'paused' });
// @ts-expect-error the id is missing
void getDubbing();
`;

const run = (words: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}) =>
  promisify(execFile)(process.execPath, words, { cwd, env: { ...process.env, ...env } });

async function readProgram(name: string): Promise<string> {
  const { bin } = JSON.parse(await readFile(join(PACKAGES, name, 'package.json'), 'utf8'));
  const [program = ''] = typeof bin === 'string' ? [bin] : Object.values<string>(bin);
  return join(PACKAGES, name, program);
}

/** A project with the files of the page and the client that its command generates. */
async function generateClient(document: string): Promise<string> {
  const folder = await makeStateDir();
  await symlink(PACKAGES, join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER_OPTIONS }));
  await writeFile(join(folder, 'openapi.json'), document);
  await writeFile(join(folder, 'mistakes.ts'), MISTAKES);
  for (const [, name = '', code = ''] of page.matchAll(/^```ts\n\/\/ (\S+\.ts)\n([\s\S]*?)^```$/gm)) {
    await writeFile(join(folder, name), code);
  }
  const [, name = '', words = ''] = /^npx (\S+) (.+?) *#/m.exec(page) ?? [];
  await run([await readProgram(name), ...words.split(' ')], folder);
  return folder;
}

test('a generated client compiles, refuses what the API refuses, and creates a job with our signature', async () => {
  const { service, credentials, caller } = await startScene();
  const { json } = await caller.get('/v1/openapi.json');
  const folder = await generateClient(JSON.stringify(json));
  const compiled = await run([await readProgram('typescript')], folder).catch(({ stdout }) => ({ stdout }));
  expect(compiled.stdout).toBe('');
  const env = { VLOC_BASE_URL: service.url, VLOC_KEY: credentials.key, VLOC_SECRET: credentials.secret };
  const printed = await run(['translate.js'], folder, env);
  const { json: list } = await caller.get('/v1/subtitle-translations');
  expect(list.data).toMatchObject([{ client_reference: "Anna's talk (1)" }]);
  expect(printed.stdout).toBe(`[ '${list.data[0].id}' ]\n`);
});
