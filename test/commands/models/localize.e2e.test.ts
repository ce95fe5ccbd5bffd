/** From models on a hub to a localized video: what `vloc models install` puts into place does every step but the separation. */
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RUNTIME } from '../../engines/backends/llama/llama.ts';
import { secondClip } from '../../service/media/studio.ts';
import { probeStreams } from '../../support/media.ts';
import { addTinyWordsAndSpeakers } from '../../support/tiny-catalog.ts';
import { openModelsDesk } from './desk.ts';

it.skipIf(RUNTIME === null)('models of a hub localize a video (needs: sh .ci/llama)', async () => {
  const desk = await openModelsDesk();
  const catalog = addTinyWordsAndSpeakers(desk.copies, desk.catalog);
  // Installed from the registry of npm otherwise.
  mkdirSync(desk.models);
  symlinkSync(RUNTIME ?? '', join(desk.models, 'node-llama-cpp'));
  const installed = await desk.run(['install', '--from', 'es', '--to', 'en', '--yes'], { catalog });
  expect(installed.stderr).toContain('tiny-words');
  expect(installed.code, installed.stderr).toBe(0);

  const clip = secondClip(desk.folder, 'clip.mp4');
  const words = ['localize', clip, '--from', 'es', '--to', 'en', '--profile', 'local', '--out', 'out'];
  const { code, stderr } = await desk.call(words, { catalog });
  expect(code, stderr).toBe(0);
  const { streams } = probeStreams(join(desk.folder, 'out', 'clip.en.mp4'));
  expect(streams.map(({ codec_type }) => codec_type)).toEqual(['video', 'audio']);
  const report = await desk.call(['batch', 'report', 'out', '--format', 'json'], { catalog });
  for (const engine of ['tiny-ears', 'words', 'tiny-voice']) expect(report.stdout).toContain(engine);

  const speakers = ['recognize', clip, '--from', 'es', '--speakers', '--subtitle-format', 'vtt'];
  const named = await desk.call([...speakers, '--profile', 'local', '--out', 'out'], { catalog });
  expect(named.code, named.stderr).toBe(0);
  expect(readFileSync(join(desk.folder, 'out', 'clip.es.vtt'), 'utf8')).toContain('<v Speaker 1>');
});
