/** What a run loads: commands that do no work must not pay for the packages of those that do. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Installation, openInstallation } from './packed.ts';

const HEAVY = [
  'undici',
  'execa',
  'conf',
  'ora',
  'chalk',
  'cli-table3',
  'hono',
  'jq-wasm',
  'sherpa-onnx-node',
  '@jitsi/rnnoise-wasm',
];

let vloc: Installation;
beforeAll(async () => {
  vloc = await openInstallation();
});
afterAll(() => vloc.remove());

const observed = new Map<string, Promise<readonly string[]>>();

/** What a run has loaded: files, and parts of Node as `node:NAME`. Several tests look at the same run. */
function modulesLoadedBy(...args: string[]): Promise<readonly string[]> {
  const line = args.join(' ');
  const modules = observed.get(line) ?? observe(args);
  observed.set(line, modules);
  return modules;
}

async function observe(args: readonly string[]): Promise<readonly string[]> {
  const trace = join(vloc.folder, 'trace.txt');
  rmSync(trace, { force: true });
  const hook = fileURLToPath(new URL('trace.mjs', import.meta.url));
  const env = { NODE_OPTIONS: `--import "${hook}"`, VLOC_TRACE: trace };
  const { code, stderr } = await vloc.runWith(env, ...args);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(existsSync(trace)).toBe(true);
  const urls = readFileSync(trace, 'utf8').split('\n');
  expect(urls.some((url) => url.endsWith('/bin/vloc.js'))).toBe(true);
  return urls;
}

/** The files that a run has loaded: ours with their text, those of packages with their path. */
async function loadedBy(...args: string[]): Promise<readonly string[]> {
  const files = (await modulesLoadedBy(...args)).filter((url) => url.startsWith('file:'));
  return files.map((url) => {
    const path = fileURLToPath(url);
    const own = relative(vloc.home, path);
    return /^node_modules|^\.\./.test(own)
      ? path.slice(path.lastIndexOf('node_modules'))
      : readFileSync(path, 'utf8');
  });
}

/** Packages whose code a run has loaded: whole, or as part of a file of the bundle, which names them in its regions. */
async function packagesLoadedBy(...args: string[]): Promise<Set<string>> {
  const texts = await loadedBy(...args);
  const named = /node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//g;
  return new Set(texts.flatMap((text) => [...text.matchAll(named)].map((match) => match[1] ?? '')));
}

it.each([
  '--version',
  '--help',
  'localize --help',
  'completion bash',
  'completion complete -- jobs wait ',
  'completion complete -- dub --to ',
])('vloc %s loads nothing heavy', async (line) => {
  const loaded = await packagesLoadedBy(...line.split(' '));
  expect(HEAVY.filter((name) => loaded.has(name))).toEqual([]);
});

/** A press of Tab. */
const TAB = ['completion', 'complete', '--', 'profile', 'use', ''];

// It takes a fifteenth of the time of that start, or more.
it('a press of Tab loads no node:crypto', async () => {
  const loaded = await modulesLoadedBy(...TAB);
  expect(loaded).toContain('node:path');
  expect(loaded).not.toContain('node:crypto');
});

it('completing profiles with Tab loads neither the client nor the service', async () => {
  const heavy = /^\/\/ src\/(?:client\/transport|service)\//m;
  const loaded = (await loadedBy(...TAB)).filter((text) => heavy.test(text));
  expect(loaded).toEqual([]);
  // So they are named in the files of the bundle.
  const all = await loadedBy('credits', '--quiet');
  expect(all.some((text) => heavy.test(text))).toBe(true);
});

it('a run that does work is observed to load what it needs', async () => {
  const loaded = await packagesLoadedBy('credits', '--quiet');
  for (const name of ['commander', 'hono']) expect(loaded).toContain(name);
});

it('neither the version nor a press of Tab loads the parser', async () => {
  expect(await packagesLoadedBy('--version')).not.toContain('commander');
  expect(await packagesLoadedBy(...TAB)).not.toContain('commander');
});

it('a press of Tab loads no command', async () => {
  const loaded = await loadedBy('completion', 'complete', '--', 'localize', '--');
  expect(
    loaded.filter((text) => /^\/\/ src\/commands\/(?!tool\/completion|context\/version)/m.test(text)),
  ).toEqual([]);
});
