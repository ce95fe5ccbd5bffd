import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { detectCapabilities } from '../../src/engines/capabilities.ts';
import { createEngines } from '../../src/engines/index.ts';
import { createPrograms } from '../../src/engines/programs.ts';
import { createWork, SAMPLE, temporaryFolder } from './workspace.ts';

describe('the capabilities of this machine', () => {
  test('are those of the installed engines', async () => {
    const capabilities = await detectCapabilities(createPrograms(process.env.PATH ?? ''));
    expect(capabilities.missing).toEqual([]);
    expect(capabilities.recognize).toEqual(['en']);
    expect(capabilities.translate).toContainEqual({ from: 'en', to: 'es' });
    const spanish = capabilities.speak.find((voice) => voice.language === 'es');
    expect(spanish?.voices).toEqual(['es', 'es+f3', 'es+m3']);
    expect(capabilities.speak.length).toBeGreaterThan(100);
  });

  test('are asked for once in a process', () => {
    const engines = createEngines();
    expect(engines.capabilities()).toBe(engines.capabilities());
  });

  test('without any program name an engine for every step', async () => {
    const { missing, translate, speak } = await detectCapabilities(createPrograms(temporaryFolder()));
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

  test('take an engine that has no data, or fails, for missing', async () => {
    const folder = temporaryFolder();
    for (const [name, script] of [
      ['apertium', 'exit 0'],
      ['espeak-ng', 'exit 1'],
    ]) {
      writeFileSync(join(folder, name ?? ''), `#!/bin/sh\n${script}\n`);
      chmodSync(join(folder, name ?? ''), 0o755);
    }
    const { missing } = await detectCapabilities(createPrograms(folder));
    expect(missing).toContainEqual({ step: 'translate', engine: 'apertium' });
    expect(missing).toContainEqual({ step: 'speak', engine: 'espeak-ng' });
  });
});

test('a job whose engine is missing fails with the line that installs it', async () => {
  const engines = createEngines({ searchPath: temporaryFolder() });
  const run = engines.run.audio_separation({ video: SAMPLE }, createWork(temporaryFolder()));
  await expect(run).rejects.toMatchObject({
    name: 'JobFailure',
    code: 'ENGINE_ERROR',
    message: expect.stringMatching(/ffmpeg is not installed.*vloc engines install/),
  });
});
