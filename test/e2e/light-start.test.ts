/** What a run loads: commands that do no work must not pay for the packages of those that do. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Installation, installPacked } from './packed.ts';

const MINUTES = 60_000;
const HEAVY = [
  'undici',
  'execa',
  'conf',
  'ora',
  'hono',
  'jq-wasm',
  'sherpa-onnx-node',
  '@jitsi/rnnoise-wasm',
];

let vloc: Installation;
beforeAll(() => {
  vloc = installPacked();
}, 5 * MINUTES);
afterAll(() => vloc.remove());

/** Packages whose code a run has loaded: whole, or as part of a file of the bundle, which names them in its regions. */
async function packagesLoadedBy(...args: string[]): Promise<Set<string>> {
  const trace = join(vloc.folder, 'trace.txt');
  rmSync(trace, { force: true });
  const hook = fileURLToPath(new URL('trace.mjs', import.meta.url));
  const env = { NODE_OPTIONS: `--import "${hook}"`, VLOC_TRACE: trace };
  const { code, stderr } = await vloc.runWith(env, ...args);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(existsSync(trace)).toBe(true);
  const files = readFileSync(trace, 'utf8')
    .split('\n')
    .filter((url) => url.startsWith('file:'));
  expect(files.some((url) => url.endsWith('/bin/vloc.js'))).toBe(true);
  const names = files.flatMap((url) => {
    const path = fileURLToPath(url);
    const text = path.startsWith(vloc.home)
      ? readFileSync(path, 'utf8')
      : path.slice(path.lastIndexOf('node_modules'));
    return [...text.matchAll(/node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//g)].map((match) => match[1] ?? '');
  });
  return new Set(names);
}

it.each([
  ['--version'],
  ['--help'],
  ['help', 'exit-codes'],
  ['localize', '--help'],
  ['completion', 'bash'],
  ['completion', 'values', 'profiles'],
  ['completion', 'values', 'jobs'],
  ['completion', 'values', 'uploads'],
  ['completion', 'values', 'translation-targets'],
  ['completion', 'values', 'voices'],
])('vloc %s %s %s loads nothing heavy', async (...args) => {
  const loaded = await packagesLoadedBy(...args);
  expect(HEAVY.filter((name) => loaded.has(name))).toEqual([]);
});

it('a run that does work is seen to load what it needs', async () => {
  const loaded = await packagesLoadedBy('credits', '--quiet');
  for (const name of ['commander', 'hono']) expect(loaded).toContain(name);
});

it('neither the version nor values for a shell load the parser', async () => {
  expect(await packagesLoadedBy('--version')).not.toContain('commander');
  expect(await packagesLoadedBy('completion', 'values', 'profiles')).not.toContain('commander');
});
