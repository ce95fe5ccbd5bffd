import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createEngines } from '../../src/engines/index.ts';
import { makeFolder } from '../support/make-folder.ts';
import { createWork, SAMPLE } from './workspace.ts';

describe('the capabilities of this machine', () => {
  test('are those of the installed engines', async () => {
    const capabilities = await createEngines().capabilities();
    expect(capabilities.missing).toEqual([]);
    expect(capabilities.recognize).toEqual(['en']);
    expect(capabilities.translate).toContainEqual({ from: 'en', to: 'es' });
    const spanish = capabilities.speak.find((voice) => voice.language === 'es');
    expect(spanish?.voices).toEqual(['es', 'es+f2']);
    expect(capabilities.speak.length).toBeGreaterThan(100);
  });

  test('are determined once in a process', () => {
    const engines = createEngines();
    expect(engines.capabilities()).toBe(engines.capabilities());
  });

  test('without any program name an engine for every step', async () => {
    const { missing, translate, speak } = await createEngines({
      searchPath: makeFolder(),
    }).capabilities();
    expect(missing).toEqual([
      { step: 'probe', engine: 'ffmpeg' },
      { step: 'separate', engine: 'ffmpeg' },
      { step: 'recognize', engine: 'pocketsphinx' },
      { step: 'translate', engine: 'apertium' },
      { step: 'speak', engine: 'espeak-ng' },
      { step: 'export', engine: 'ffmpeg' },
    ]);
    expect([translate, speak]).toEqual([[], []]);
  });

  test('treat an engine without data, or one that fails, as missing', async () => {
    const folder = makeFolder();
    for (const [name, script] of [
      ['apertium', 'exit 0'],
      ['espeak-ng', 'exit 1'],
    ]) {
      writeFileSync(join(folder, name ?? ''), `#!/bin/sh\n${script}\n`);
      chmodSync(join(folder, name ?? ''), 0o755);
    }
    const { missing } = await createEngines({ searchPath: folder }).capabilities();
    expect(missing).toContainEqual({ step: 'translate', engine: 'apertium' });
    expect(missing).toContainEqual({ step: 'speak', engine: 'espeak-ng' });
  });
});

test('a job whose engine is missing fails with the command that installs it', async () => {
  const engines = createEngines({ searchPath: makeFolder() });
  const run = engines.run.audio_separation({ video: SAMPLE }, createWork(makeFolder()));
  await expect(run).rejects.toMatchObject({
    name: 'JobFailure',
    code: 'ENGINE_ERROR',
    message: expect.stringMatching(/ffprobe is not installed.*vloc engines install/),
  });
});

test('a server that does not answer is named with the reason, and is checked again the next time', async () => {
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(
      JSON.stringify([
        { code: 'en', name: 'English', targets: ['es'] },
        { code: 'es', name: 'Spanish', targets: ['en'] },
      ]),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  await new Promise((resolve) => server.close(resolve));
  const engines = createEngines({
    searchPath: makeFolder(),
    config: { translate: [{ type: 'libretranslate', url: `http://127.0.0.1:${port}`, timeout: 5 }] },
  });
  const reason = expect.stringContaining(`127.0.0.1:${port}`);
  const missing = { step: 'translate', engine: 'libretranslate', reason };
  expect((await engines.capabilities()).missing).toContainEqual(missing);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const after = await engines.capabilities();
  expect(after.missing).not.toContainEqual(expect.objectContaining({ step: 'translate' }));
  expect(after.translate).toContainEqual({ from: 'en', to: 'es' });
  await engines.close?.();
});
