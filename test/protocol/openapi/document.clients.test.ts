/** Clients that other people's generators make from the document, with the code of docs/library.md around them. */
import { execFile } from 'node:child_process';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
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
import { createDubbing, getDubbing, listDubbings, type AutoLocalization, type Event } from './hey-api/index.js';
import * as other from './oazapfts.js';

const headers = { 'Idempotency-Key': 'k' };
const subtitle = { type: 'upload', upload_id: 'upl_1' } as const;
export const right = { subtitle, target_language: 'es', callback_url: 'https://example.com/' };
void createDubbing({ headers, body: right });
void other.createDubbing('k', right);
export const size = (job: AutoLocalization, { data }: Event) => (data.id === job.id ? job.result?.video.size_bytes : 0);
// @ts-expect-error the address is a text
void createDubbing({ headers, body: { ...right, callback_url: 3 } });
// @ts-expect-error the address is a text
void other.createDubbing('k', { ...right, callback_url: 3 });
// @ts-expect-error a paid request needs an Idempotency-Key
void createDubbing({ body: right });
// @ts-expect-error nothing is dubbed without a language
void other.createDubbing('k', { subtitle });
// @ts-expect-error no job has this status
void listDubbings({ query: { status: 'paused' } });
// @ts-expect-error no job has this status
void other.listDubbings({ status: 'paused' });
// @ts-expect-error the id is missing
void getDubbing();
`;

/** As the example of the page for the other generator. */
const WITH_OAZAPFTS = `
import { createSubtitleTranslation, defaults, listSubtitleTranslations } from './oazapfts.js';
import { signedFetch } from './sign.js';

Object.assign(defaults, { baseUrl: process.env['VLOC_BASE_URL'], fetch: signedFetch });
const client_reference = "Anna's talk (1)";
const lines = [{ index: 1, start_ms: 0, end_ms: 1500, text: 'Hello' }];
const subtitle = { type: 'lines' as const, lines };
const created = await createSubtitleTranslation('talk-1-es', { subtitle, target_language: 'es', client_reference });
if (created.status !== 202) throw new Error(created.data.detail);
const found = await listSubtitleTranslations({ limit: 1, clientReference: client_reference });
if (found.status === 200) console.log(found.data.data.map(({ id }) => id));
`;

const run = (words: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}) =>
  promisify(execFile)(process.execPath, words, { cwd, env: { ...process.env, ...env } });

async function readProgram(name: string): Promise<string> {
  const { bin } = JSON.parse(await readFile(join(PACKAGES, name, 'package.json'), 'utf8'));
  const [program = ''] = typeof bin === 'string' ? [bin] : Object.values<string>(bin);
  return join(PACKAGES, name, program);
}

/** TypeScript 7 has no interface for programs yet, so @hey-api/openapi-ts gets the TypeScript 5 that oazapfts brings. */
function provideOldTypeScript(): string {
  const parentURL = pathToFileURL(createRequire(import.meta.url).resolve('oazapfts')).href;
  const hook = `import { registerHooks } from 'node:module';
    const parentURL = ${JSON.stringify(parentURL)};
    registerHooks({ resolve: (name, from, next) => next(name, name === 'typescript' ? { ...from, parentURL } : from) });`;
  return `--import=data:text/javascript,${encodeURIComponent(hook)}`;
}

/** A project with the files of the page and the clients that its commands generate. */
async function generateClients(document: string): Promise<string> {
  const folder = await makeStateDir();
  await symlink(PACKAGES, join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER_OPTIONS }));
  await writeFile(join(folder, 'openapi.json'), document);
  await writeFile(join(folder, 'mistakes.ts'), MISTAKES);
  await writeFile(join(folder, 'with-oazapfts.ts'), WITH_OAZAPFTS);
  for (const [, name = '', code = ''] of page.matchAll(/^```ts\n\/\/ (\S+\.ts)\n([\s\S]*?)^```$/gm)) {
    await writeFile(join(folder, name), code);
  }
  for (const [, name = '', words = ''] of page.matchAll(/^npx (\S+) (.+)$/gm)) {
    const program = await readProgram(name);
    await run([program, ...words.split(' ')], folder, { NODE_OPTIONS: provideOldTypeScript() });
  }
  return folder;
}

test('clients of two generators compile, refuse what the API refuses, and create one job with our signature', async () => {
  const { service, credentials, caller } = await startScene();
  const { json } = await caller.get('/v1/openapi.json');
  const folder = await generateClients(JSON.stringify(json));
  const compiled = await run([await readProgram('typescript')], folder).catch(({ stdout }) => ({ stdout }));
  expect(compiled.stdout).toBe('');
  const env = { VLOC_BASE_URL: service.url, VLOC_KEY: credentials.key, VLOC_SECRET: credentials.secret };
  const printed = [];
  for (const name of ['with-hey-api.js', 'with-oazapfts.js']) {
    printed.push((await run([name], folder, env)).stdout);
  }
  const { json: list } = await caller.get('/v1/subtitle-translations');
  expect(list.data).toMatchObject([{ client_reference: "Anna's talk (1)" }]);
  expect(printed).toEqual([`[ '${list.data[0].id}' ]\n`, `[ '${list.data[0].id}' ]\n`]);
});
