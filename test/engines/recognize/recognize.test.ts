/** Recognition through any engine: text that cannot have been said is recognized again, then dropped and named. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recognizeSpeech } from '../../../src/engines/recognize/recognize.ts';
import type { Segment } from '../../../src/media/audio/segments.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { nodeScript, soundFile } from '../backends/user-program.ts';
import { createWork, stepEngines } from '../workspace.ts';

/** A cue of an SRT file: its text, start and end in seconds. */
type Cue = readonly [text: string, start: number, end: number];

const SPEECH = [
  { start: 1, end: 4 },
  { start: 6, end: 9 },
  { start: 14, end: 17 },
] as const;

/**
 * Recognizes 20 s of sound with three stretches of speech.
 * @param whole what the program hears in the whole sound
 * @param parts what it hears in each sound that is shorter, in order
 */
async function recognize(whole: readonly Cue[], parts: readonly (readonly Cue[])[]) {
  const folder = makeFolder();
  const log = join(folder, 'heard.log');
  writeFileSync(log, '');
  const program = nodeScript(
    `import { appendFileSync, readFileSync, statSync } from 'node:fs';
     const seconds = (statSync(process.argv[2]).size - 44) / 32000;
     const before = readFileSync(${JSON.stringify(log)}, 'utf8').split('\\n').length - 2;
     appendFileSync(${JSON.stringify(log)}, seconds.toFixed(1) + '\\n');
     const cues = seconds > 19 ? ${JSON.stringify(whole)} : ${JSON.stringify(parts)}[before] ?? [];
     const time = (at) => new Date(Math.round(at * 1000)).toISOString().slice(11, 23).replace('.', ',');
     for (const [at, [text, start, end]] of cues.entries())
       console.log([at + 1, time(start) + ' --> ' + time(end), text, ''].join('\\n'));
     if (cues.length === 0) console.log('');`,
    'whisper.mjs',
  );
  const engines = await stepEngines({
    recognize: [{ type: 'command', run: [process.execPath, program, '{input}'], languages: ['en'] }],
  });
  const segments: readonly Segment[] = SPEECH;
  const voice = await soundFile(
    folder,
    20,
    SPEECH.map(({ start, end }) => [start, end] as const),
  );
  const separation = {
    ...{ voice, segments, vocals: voice, background: voice, residue: null },
    use: { step: 'separate', engine: 'none', skipped: [] },
  } as const;
  const made = recognizeSpeech(engines, separation, 'en', createWork(folder));
  const { subtitle, use } = await made;
  const heard = readFileSync(log, 'utf8').trim().split('\n').map(Number);
  return {
    texts: subtitle.lines.map(({ text }) => text),
    lines: subtitle.lines,
    dropped: use.dropped,
    heard,
  };
}

const GOOD: Cue = ['He was a young man.', 1, 4];
const LOOP: Cue = ['Thank you. Thank you. Thank you. Thank you. Thank you.', 6, 9];

test('a transcript without doubts is heard once and unchanged', async () => {
  const { texts, dropped, heard } = await recognize([GOOD, ['And she was not.', 6, 9]], []);
  expect(texts).toEqual(['He was a young man.', 'And she was not.']);
  expect(dropped).toBeUndefined();
  expect(heard).toEqual([20]);
});

test('a loop is replaced by what is heard in that speech alone', async () => {
  const { texts, lines, dropped, heard } = await recognize(
    [GOOD, LOOP],
    [[['And she was not.', 0.15, 3.15]]],
  );
  expect(texts).toEqual(['He was a young man.', 'And she was not.']);
  expect(lines[1]).toMatchObject({ start_ms: 6000, end_ms: 9000 });
  expect(dropped).toBeUndefined();
  // The three seconds of speech, with a margin.
  expect(heard).toEqual([20, 3.3]);
});

test('a loop that is heard again is dropped after its first time, and named', async () => {
  const { texts, dropped, heard } = await recognize([GOOD, LOOP], [[[LOOP[0], 0.15, 3.15]]]);
  expect(texts).toEqual(['He was a young man.', 'Thank you.']);
  expect(dropped).toEqual([
    { start_ms: 6600, end_ms: 9000, text: 'Thank you. Thank you. Thank you. Thank you.', reason: 'loop' },
  ]);
  expect(heard).toEqual([20, 3.3]);
});

test('words in silence, and words too fast to be said, are dropped and named', async () => {
  const invented: Cue = ['Subtitles by the community', 11, 12];
  const fast: Cue = [
    'Do not forget to subscribe to the channel and to press the bell, and to share this with everyone that you know at home, at school, at work and on the way to all of them',
    ...([14, 17] as const),
  ];
  const { texts, dropped, heard } = await recognize([GOOD, invented, fast], [[], [[fast[0], 0.15, 3.15]]]);
  expect(texts).toEqual(['He was a young man.']);
  expect(dropped?.map(({ reason }) => reason)).toEqual(['silence', 'silence', 'fast', 'fast', 'fast']);
  expect(dropped?.map(({ text }) => text).join(' ')).toBe(`${invented[0]} ${fast[0]}`);
  expect(heard).toEqual([20, 3.3, 3.3]);
});

test('speech of which nothing is left is no subtitle, and the failure says what was dropped', async () => {
  await expect(recognize([['Subtitles by the community', 11, 12]], [[], []])).rejects.toMatchObject({
    code: 'NO_SPEECH_DETECTED',
    message: expect.stringContaining('"Subtitles by the community"'),
  });
});
