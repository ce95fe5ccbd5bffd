/** `vloc models install` and a graphics card, with modules in place of npm and node-llama-cpp. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { fakeModule, writePackage } from '../../engines/backends/llama/fake-runtime.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { addTinyWordsAndSpeakers } from '../../support/tiny-catalog.ts';
import { type ModelsDesk, openModelsDesk } from './desk.ts';

let desk: ModelsDesk;
let catalog: unknown;
let env: Record<string, string>;
beforeEach(async () => {
  desk = await openModelsDesk();
  catalog = addTinyWordsAndSpeakers(desk.copies, desk.catalog);
  const packages = join(desk.folder, 'packages');
  writePackage(packages, 'node-llama-cpp', fakeModule());
  writePackage(packages, '@node-llama-cpp/linux-x64-vulkan');
  // Installs the packages that the project names.
  const npm = `#!/bin/sh
    for name in node-llama-cpp $(grep -o '@node-llama-cpp/linux-x64-vulkan' package.json); do
      mkdir -p "node_modules/$name" && cp -R "${packages}/node_modules/$name/." "node_modules/$name/"
    done`;
  const bin = join(desk.folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'npm'), npm);
  chmodSync(join(bin, 'npm'), 0o755);
  env = { PATH: `${bin}:${rememberingPath()}`, XDG_CACHE_HOME: join(desk.folder, 'cache') };
});

const install = (...words: readonly string[]) => desk.run(['install', '--yes', ...words], { catalog, env });

const list = async () => {
  const { stdout } = await desk.run(['list', '-o', 'json'], { catalog, env });
  const { data } = JSON.parse(stdout) as { data: { id: string; ran_on: string | null }[] };
  return data.find(({ id }) => id === 'tiny-words')?.ran_on;
};

const HAS_CARD_PART = process.platform === 'linux' && process.arch === 'x64';

describe.runIf(HAS_CARD_PART)('the part for a graphics card', () => {
  it('is installed with --gpu, and the trial, vloc models list and vloc doctor show where the model ran, and whose it is', async () => {
    const { code, stderr } = await install('tiny-words', '--gpu');
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('downloads 83 MB, and 27 MB for the graphics card');
    expect(stderr).toMatch(/It works: .*; ran on Card \(Vulkan\), all 33 layers\n/);
    expect(await list()).toBe('Card (Vulkan), all 33 layers');
    const { stdout } = await desk.call(['doctor', '-o', 'json'], { catalog, env });
    const { checks } = JSON.parse(stdout) as { checks: { check: string; message: string }[] };
    const messages = Object.fromEntries(checks.map(({ check, message }) => [check, message]));
    expect(messages['graphics card']).toBe('Card (Vulkan), 1.0 GB free');
    expect(messages['model tiny-words']).toMatch(
      /^complete; needs \d+ MB of memory, [\d.]+ [MG]B are free; ran on Card \(Vulkan\), all 33 layers; MIT$/,
    );
  });

  it('is added by a later install of any model, which tries those in use and leaves their entries', async () => {
    expect((await install('tiny-words', '--no-gpu')).code).toBe(0);
    const file = join(desk.folder, 'config', 'engines.json');
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace('"type": "llama"', '"type": "llama", "context": 1'),
    );
    const { code, stderr } = await install('tiny-speakers', '--gpu');
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('Trying tiny-words');
    expect(await list()).toBe('Card (Vulkan), all 33 layers');
    expect(desk.engines()).toMatchObject({ translate: [{ managed: 'tiny-words', context: 1 }, 'apertium'] });
    const again = await install('tiny-speakers');
    expect(again.stderr).toContain('All of them are installed.');
  });
});
