import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  findLlamaRuntime,
  hasCardPart,
  installLlamaRuntime,
  RUNTIME_VERSION,
} from '../../../../src/engines/backends/llama/runtime.ts';
import lock from '../../../../src/engines/backends/llama/runtime-lock.json' with { type: 'json' };
import { createPrograms } from '../../../../src/media/programs/programs.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import { script } from '../user-program.ts';

const { signal } = new AbortController();

/** Installs with a program in place of npm; without one, with none. */
async function install(folder: string, npm?: string, card = false): Promise<void> {
  const path = npm === undefined ? '' : `${dirname(script(npm, 'npm'))}:/usr/bin:/bin`;
  await installLlamaRuntime(folder, { programs: createPrograms(path), env: {}, signal, card });
}

/** Makes the package that is looked for, as npm does. */
const NPM_WORKS = `
  for name in node-llama-cpp $(grep -o '"@node-llama-cpp/[^"]*"' package.json | tr -d '"'); do
    mkdir -p "node_modules/$name"
    echo '{"version":"${RUNTIME_VERSION}"}' > "node_modules/$name/package.json"
  done
  echo "$@" > arguments`;

const HAS_CARD_PART = process.platform === 'linux' && process.arch === 'x64';

describe('the lock of node-llama-cpp', () => {
  test('pins each package by its content, and names no registry', () => {
    const packages = Object.entries(lock.packages).filter(([path]) => path !== '');
    const loose = packages.filter(([, facts]) => !('integrity' in facts && /^sha512-/.test(facts.integrity)));
    expect(loose).toEqual([]);
    expect(JSON.stringify(lock)).not.toContain('"resolved"');
  });
});

describe('the installation of node-llama-cpp', () => {
  test('locks the package of this system, and runs no scripts', async () => {
    const folder = join(makeFolder(), 'models', 'node-llama-cpp');
    await install(folder, NPM_WORKS);
    expect(readFileSync(join(folder, 'arguments'), 'utf8')).toContain('ci --omit=optional --ignore-scripts');
    const made = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as typeof lock;
    const [name = ''] = Object.keys(made.packages[''].dependencies).filter((each) => each.startsWith('@'));
    expect(name).toMatch(/^@node-llama-cpp\/(linux|mac|win)-/);
    const facts = Object.entries(made.packages).find(([path]) => path === `node_modules/${name}`)?.[1];
    expect(facts).toMatchObject({ integrity: expect.stringMatching(/^sha512-/) });
    expect(facts).not.toHaveProperty('optional');
    expect(await findLlamaRuntime(folder)).toBe(join(folder, 'node_modules/node-llama-cpp/dist/index.js'));
  });

  test.runIf(HAS_CARD_PART)('with the part for graphics cards has both, each by its content', async () => {
    const folder = join(makeFolder(), 'node-llama-cpp');
    await install(folder, NPM_WORKS, true);
    const made = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as typeof lock;
    const names = Object.keys(made.packages[''].dependencies).filter((each) => each.startsWith('@'));
    expect(names).toEqual(['@node-llama-cpp/linux-x64', '@node-llama-cpp/linux-x64-vulkan']);
    for (const name of names) {
      const facts = Object.entries(made.packages).find(([path]) => path === `node_modules/${name}`)?.[1];
      expect(facts).toMatchObject({ integrity: expect.stringMatching(/^sha512-/) });
      expect(facts).not.toHaveProperty('optional');
    }
  });

  test.runIf(HAS_CARD_PART)('gets the part for graphics cards later, and loses it again', async () => {
    const folder = join(makeFolder(), 'node-llama-cpp');
    await install(folder, NPM_WORKS);
    expect(await hasCardPart(folder)).toBe(false);
    for (const card of [true, false]) {
      await install(folder, NPM_WORKS, card);
      expect(await hasCardPart(folder)).toBe(card);
      await install(folder, 'exit 1', card);
    }
  });

  test.runIf(!HAS_CARD_PART)('says where there is no part for graphics cards', async () => {
    await expect(install(join(makeFolder(), 'node-llama-cpp'), NPM_WORKS, true)).rejects.toMatchObject({
      message: `node-llama-cpp has no part for graphics cards on ${process.platform}-${process.arch}`,
    });
  });

  test('that fails leaves what was there, and prints what npm said', async () => {
    const folder = join(makeFolder(), 'node-llama-cpp');
    mkdirSync(folder);
    writeFileSync(join(folder, 'mine'), '');
    const failed = install(folder, "echo 'npm error code E500' >&2; echo 'npm error 500 Broken' >&2; exit 1");
    await expect(failed).rejects.toMatchObject({
      code: 'RUNTIME_NOT_INSTALLED',
      message: 'npm did not install node-llama-cpp: 500 Broken',
    });
    expect(readdirSync(dirname(folder))).toEqual(['node-llama-cpp']);
    expect(existsSync(join(folder, 'mine'))).toBe(true);
  });

  test('without npm names llama-server as the other way', async () => {
    await expect(install(join(makeFolder(), 'node-llama-cpp'))).rejects.toMatchObject({
      message: 'npm, which installs node-llama-cpp, is not installed',
      advice: expect.stringContaining('--type openai --url http://127.0.0.1:8080/v1'),
    });
  });

  test('replaces another version, and keeps this one', async () => {
    const folder = join(makeFolder(), 'node-llama-cpp');
    mkdirSync(join(folder, 'node_modules/node-llama-cpp'), { recursive: true });
    writeFileSync(join(folder, 'node_modules/node-llama-cpp/package.json'), '{"version":"1.0.0"}');
    await install(folder, NPM_WORKS);
    await install(folder, 'exit 1');
    expect(await findLlamaRuntime(folder)).not.toBeNull();
  });
});
