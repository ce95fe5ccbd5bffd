import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type CardListing,
  describePlace,
  findCard,
  readPlace,
} from '../../../../src/engines/backends/llama/card.ts';
import { listCards } from '../../../../src/engines/backends/llama/model.ts';
import { findLlamaRuntime } from '../../../../src/engines/backends/llama/runtime.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import { createParts } from '../user-program.ts';
import { fakeModule, writePackage } from './fake-runtime.ts';
import { createTiny, RUNTIME, task, tinyModel, work } from './llama.ts';

const NVIDIA: CardListing = {
  platform: 'linux-x64',
  devices: ['null', 'nvidia0', 'nvidiactl'],
  drivers: ['lvp_icd.x86_64.json', 'nvidia_icd.json'],
  libraries: ['libc.so.6', 'libvulkan.so.1'],
};
const WINDOWS: CardListing = {
  platform: 'win32-x64',
  devices: [],
  drivers: [],
  libraries: ['vulkan-1.dll', 'kernel32.dll'],
};

describe('a graphics card', () => {
  test.each<[string, Partial<CardListing>]>([
    ['of NVIDIA', {}],
    ['with an open driver', { devices: ['card0', 'renderD128'], drivers: ['radeon_icd.x86_64.json'] }],
    ['that is the second one', { devices: ['renderD129'] }],
    ['on Windows', WINDOWS],
  ])('%s is found', (_, changes) => {
    expect(findCard({ ...NVIDIA, ...changes })).toBe('found');
  });

  test.each<[string, Partial<CardListing>]>([
    ['without a device', { devices: ['null', 'nvidiactl', 'card0'] }],
    ['without a driver', { drivers: [] }],
    ['whose only driver computes on the processor', { drivers: ['lvp_icd.x86_64.json', 'README'] }],
    ['on a processor without programs for it', { platform: 'linux-arm64' }],
    ['of Apple, which needs no part', { platform: 'darwin-arm64' }],
    ['on Windows without vulkan-1.dll', { ...WINDOWS, libraries: ['kernel32.dll'] }],
  ])('%s is not found', (_, changes) => {
    expect(findCard({ ...NVIDIA, ...changes })).toBe('none');
  });

  test('whose driver no program can reach lacks only libvulkan', () => {
    expect(findCard({ ...NVIDIA, libraries: ['libc.so.6', 'libvulkan_lvp.so'] })).toBe('unlinked');
  });
});

describe('the place of a model', () => {
  const H200 = {
    gpu: 'vulkan',
    devices: ['NVIDIA H200'],
    freeBytes: 1e9,
    layers: 33,
    totalLayers: 33,
  } as const;
  const PROCESSOR = { ...H200, gpu: false, devices: [], layers: 0 } as const;

  test.each([
    [H200, null, 'NVIDIA H200 (Vulkan), all 33 layers'],
    [{ ...H200, devices: ['NVIDIA H200', 'NVIDIA H200'] }, null, 'NVIDIA H200 (Vulkan), all 33 layers'],
    [{ ...H200, layers: 11 }, null, 'NVIDIA H200 (Vulkan), 11 of 33 layers on the card: slow'],
    [{ ...H200, layers: 0 }, null, 'processor: the memory of the card has no room for it'],
    [PROCESSOR, null, 'processor'],
    [{ ...PROCESSOR, gpu: 'vulkan' as const }, null, 'processor'],
    [PROCESSOR, 'card found', 'processor: card found'],
    [{ ...H200, layers: 0 }, '"gpu": false', 'processor: "gpu": false'],
  ])('%o, %o is described as %s', (place, why, text) => {
    expect(describePlace(place, why)).toBe(text);
  });
});

/** A folder with a module in place of node-llama-cpp. */
function fakeRuntime(faults?: Parameters<typeof fakeModule>[0]): string {
  const folder = makeFolder();
  writePackage(folder, 'node-llama-cpp', fakeModule(faults));
  return folder;
}

describe('a model on a card', () => {
  test.each([
    ['cannot be loaded', { load: "throw new Error('no room')" }, 'the model cannot be loaded (no room)'],
    [
      'ends the process by a fault',
      { context: "process.kill(process.pid, 'SIGSEGV'); await new Promise(() => {})" },
      'SIGSEGV',
    ],
  ])('that %s is loaded once on the processor, which is said, and stays there', async (_, faults, cause) => {
    const said: string[] = [];
    const translator = await createTiny(
      tinyModel(),
      { runtime: fakeRuntime(faults) },
      { warn: (text) => void said.push(text) },
    );
    expect(await translator.translate(task('Hello', 'Bye'), work())).toEqual(['had', 'had']);
    expect(await translator.translate(task('Again'), work())).toEqual(['had']);
    expect(translator.where?.()).toMatch(/^processor: the card failed: /);
    expect(translator.where?.()).toContain(cause);
    expect(said).toEqual([expect.stringContaining(cause)]);
    expect(said[0]).toMatch(/^llama tiny runs on the processor, because the graphics card failed: /);
    expect(said[0]).not.toContain('files');
    expect(said[0]).not.toContain('download');
  });

  test('that also fails on the processor fails as there, and nothing is said', async () => {
    const said: string[] = [];
    const runtime = fakeRuntime({ load: "throw new Error('damaged')", isDamaged: true });
    const translator = await createTiny(tinyModel(), { runtime }, { warn: (text) => void said.push(text) });
    await expect(translator.translate(task('Hello'), work())).rejects.toMatchObject({
      message:
        'llama tiny failed: the model cannot be loaded (damaged): download it again, as `vloc models install` does',
      permanent: true,
    });
    expect([said, translator.where?.()]).toEqual([[], null]);
  });

  test.each([
    [{ layers: 11 }, {}, 'Card (Vulkan), 11 of 33 layers on the card: slow'],
    [{}, { gpu: false }, 'processor: "gpu": false in engines.json'],
  ])('%o with the entry %o notes where it ran', async (facts, fields, place) => {
    const model = tinyModel();
    const env = { XDG_CACHE_HOME: makeFolder() };
    const translator = await createTiny(model, { runtime: fakeRuntime(facts), ...fields }, { env });
    expect(await readPlace(env, model)).toBeNull();
    await translator.translate(task('Hello'), work());
    expect([translator.where?.(), await readPlace(env, model)]).toEqual([place, place]);
  });
});

test('the process of a model has a private folder for shaders, and the cards that the user names', async () => {
  const env = { GGML_VK_VISIBLE_DEVICES: '0', XDG_CACHE_HOME: makeFolder() };
  const shaders = join(env.XDG_CACHE_HOME, 'vloc', 'llama', 'shaders');
  const prompt = `
    const { MESA_SHADER_CACHE_DIR, __GL_SHADER_DISK_CACHE_PATH, GGML_VK_VISIBLE_DEVICES } = process.env;
    const found = [MESA_SHADER_CACHE_DIR, __GL_SHADER_DISK_CACHE_PATH, GGML_VK_VISIBLE_DEVICES];
    return JSON.stringify(found) === ${JSON.stringify(JSON.stringify([shaders, shaders, '0']))} ? 'had' : '';`;
  const translator = await createTiny(tinyModel(), { runtime: fakeRuntime({ prompt }) }, { env });
  expect(await translator.translate(task('Hello'), work())).toEqual(['had']);
  expect(statSync(shaders).mode & 0o777).toBe(0o700);
});

const LLVMPIPE = ['lvp_icd.x86_64.json', 'lvp_icd.json'].map((name) => join('/usr/share/vulkan/icd.d', name));
const NEEDS = RUNTIME === null || !LLVMPIPE.some((path) => existsSync(path));

describe.skipIf(NEEDS)(
  'a driver that computes on the processor (needs: sh .ci/llama, sh .ci/packages)',
  () => {
    test('is not a card', async () => {
      const module = await findLlamaRuntime(RUNTIME ?? '');
      const listed = await listCards(module ?? '', createParts({ env: {} }), new AbortController().signal);
      expect(listed?.devices).toEqual([]);
    });
  },
);
