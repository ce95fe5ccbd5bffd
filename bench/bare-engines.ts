/** Runs the engines one after another without the service: the baseline for its overhead. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngines } from '../src/engines/index.ts';

const [video = '', targetLanguage = 'es'] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
const engines = createEngines();
const { signal } = new AbortController();
try {
  await engines.inspect(video, signal);
  await engines.run.auto_localization(
    {
      video,
      sourceLanguage: 'en',
      targetLanguage,
      mode: 'standard',
      voiceMode: 'auto',
      subtitleOutput: 'none',
      originalAudio: 'background',
      resolution: 'source',
    },
    { signal, folder, report: () => undefined },
  );
} finally {
  rmSync(folder, { recursive: true });
}
