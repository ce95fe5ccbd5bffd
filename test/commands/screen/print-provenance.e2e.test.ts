/** The embedded service with engines of the user that are real programs, from engines.json to the terminal. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { nodeScript } from '../../engines/backends/user-program.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { runMain, variablesIn } from '../../support/run-main.ts';
import { QUICK } from '../support/run-vloc.ts';

/** Speaks each word as a second of a tone. */
const SPEAKER = `
import { writeFileSync } from 'node:fs';
let text = '';
for await (const chunk of process.stdin) text += chunk;
const rate = 16000;
const count = rate * text.trim().split(/\\s+/).length;
const wav = Buffer.alloc(44 + 2 * count);
wav.write('RIFF', 0); wav.writeUInt32LE(36 + 2 * count, 4); wav.write('WAVEfmt ', 8);
wav.writeUInt32LE(16, 16); wav.writeUInt16LE(1, 20); wav.writeUInt16LE(1, 22);
wav.writeUInt32LE(rate, 24); wav.writeUInt32LE(2 * rate, 28); wav.writeUInt16LE(2, 32);
wav.writeUInt16LE(16, 34); wav.write('data', 36); wav.writeUInt32LE(2 * count, 40);
for (let at = 0; at < count; at += 1) wav.writeInt16LE(Math.round(12000 * Math.sin(at / 6)), 44 + 2 * at);
writeFileSync(process.argv[2], wav);
`;

/** A sentence that fits with a permitted tempo, and two that none makes fit. */
const SRT = [
  '1\n00:00:00,000 --> 00:00:02,000\nUno dos tres cuatro.\n',
  '2\n00:00:03,000 --> 00:00:04,000\nUno dos tres.\n',
  '3\n00:00:04,100 --> 00:00:04,600\nUno dos tres cuatro cinco seis siete ocho nueve diez once doce.\n',
].join('\n');

test('the first speaker that supports the language is used, the next one for others, and cuts are found', async () => {
  const folder = makeFolder();
  const program = nodeScript(SPEAKER, 'slow-voice.mjs');
  const speak = [{ type: 'command', run: [program, '{output}'], languages: ['es'] }, 'espeak-ng'];
  await writeFile(join(folder, 'mine.json'), JSON.stringify({ speak }));
  await writeFile(join(folder, 'talk.srt'), SRT);
  const env = variablesIn(folder);
  const own = ['--engines', 'mine.json', '--profile', 'local'];
  const run = (...words: string[]) => runMain([...words, ...own], { cwd: folder, pace: QUICK, env });

  const preferred = await run('dub', 'talk.srt', '--to', 'es', '-o', 'json');
  expect(preferred.code, preferred.stderr).toBe(0);
  const { provenance } = JSON.parse(preferred.stdout).data[0];
  expect(provenance.engines).toEqual([{ step: 'speak', engine: 'command slow-voice.mjs', skipped: [] }]);
  expect(provenance.cues).toMatchObject([
    { cues: [1], fit: 'tempo', speed: 1, cut_seconds: 0 },
    { cues: [2], fit: 'cut', speed: 1 },
    { cues: [3], fit: 'cut', speed: 1 },
  ]);
  for (const { tempo } of provenance.cues) expect(tempo).toBeLessThanOrEqual(1.6);
  expect(provenance.cues[2].cut_seconds).toBeGreaterThan(0.5);
  expect(preferred.stderr).toContain(
    '! talk.srt → es: 2 cues were too long to be spoken in their time and are cut off: 2, 3.',
  );
  expect(preferred.stderr).not.toContain('instead of');

  expect((await run('batch', 'status', '.', '--all')).stdout).toContain(
    'cues cut off: 2, 3; fast cues: 1 (1.3',
  );

  const fallback = await run('dub', 'talk.srt', '--to', 'fr');
  expect(fallback.code, fallback.stderr).toBe(0);
  expect(fallback.stderr).toContain(
    'talk.srt → fr: spoken by espeak-ng instead of command slow-voice.mjs, which does not support the language.',
  );
  expect(await readFile(join(folder, 'talk.fr.wav'))).not.toHaveLength(0);
});
