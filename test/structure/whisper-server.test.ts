/** The script that builds whisper.cpp's server for the tests: what it does when it cannot. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const SCRIPT = join(import.meta.dirname, '../../.ci/whisper-server');

/** Runs the script with an empty cache and programs that replace those of the machine. Returns what it prints. */
function build(programs: Readonly<Record<string, string>>): { printed: string; cached: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'vloc-ci-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, body] of Object.entries(programs)) {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${body}\n`);
    chmodSync(path, 0o755);
  }
  const cache = join(folder, 'cache');
  const env = { PATH: `${folder}${delimiter}${process.env.PATH}`, HOME: folder, XDG_CACHE_HOME: cache };
  const printed = execFileSync('sh', [SCRIPT], { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] });
  return { printed, cached: readdirSync(folder).includes('cache') ? readdirSync(cache) : [] };
}

const STANDS_IN = { cmake: 'exit 1', 'c++': 'exit 1', make: 'exit 1' };

it('compiles nothing of an unexpected package', () => {
  const npm = 'echo other > nodejs-whisper-0.3.1.tgz';
  const { printed, cached } = build({ ...STANDS_IN, npm });
  expect(printed).toContain('the registry served another nodejs-whisper@0.3.1 than expected');
  expect(printed).toContain('Tests that need it will be skipped.');
  expect(cached).toEqual([]);
});

it('says why the package cannot be fetched', () => {
  const { printed } = build({ ...STANDS_IN, npm: 'echo "npm error no network" >&2; exit 1' });
  expect(printed).toContain('npm cannot fetch nodejs-whisper@0.3.1: npm error no network');
});
