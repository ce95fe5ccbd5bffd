/** Recognition by PocketSphinx: one process for each core, each with its share of the utterances. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Work } from '../engine.ts';
import { WAV_HEADER_BYTES } from '../media/wav.ts';
import type { Programs } from '../programs.ts';
import { together } from '../together.ts';
import { parseHypothesis } from './hypothesis.ts';
import type { SpeechModel } from './model.ts';
import { shareOut, type Utterance } from './utterances.ts';
import type { Word } from './word.ts';

const FRAMES_PER_SECOND = 100;

/**
 * Found by word error rates on LibriVox: beams so wide that hardly a right word is cut, language weights a little above
 * the default, and none of its own noise removal, since the voice has been separated already.
 */
const SEARCH_OPTIONS = [
  ...['-remove_noise', 'no', '-remove_silence', 'no'],
  ...['-beam', '1e-60', '-wbeam', '1e-40', '-pbeam', '1e-60', '-fwdflatlw', '8', '-bestpathlw', '9'],
];

/** A process loads its models for a second first: less speech than this, in seconds, is not worth one more. */
const WORTH_A_PROCESS = 10;

/** What it logs when an utterance is done: `batch.c(760): utterance-3: 7.09 seconds speech, …`. */
const DONE = /: (utterance-\d+): [\d.]+ seconds speech/;

/** Recognizes all utterances; words come back in order of time. */
export async function recognizeUtterances(
  programs: Programs,
  model: SpeechModel,
  utterances: readonly Utterance[],
  work: Work,
): Promise<Word[]> {
  const lengths = new Map(utterances.map(({ name, length }) => [name, length]));
  const total = utterances.reduce((sum, { length }) => sum + length, 0);
  let done = 0;
  const onDone = (name: string) => {
    done += lengths.get(name) ?? 0;
    lengths.delete(name); // the name stands in several lines of the log
    work.report(done / total);
  };
  const processes = Math.min(programs.parallel, Math.ceil(total / WORTH_A_PROCESS));
  const shares = shareOut(utterances, processes);
  const tasks = shares.map(
    (share, at) => (signal: AbortSignal) =>
      recognizeShare(programs, model, share, `share-${at}`, { ...work, signal }, onDone),
  );
  const words = await together(work.signal, tasks);
  return words.flat().sort((a, b) => a.start - b.start);
}

async function recognizeShare(
  programs: Programs,
  model: SpeechModel,
  share: readonly Utterance[],
  name: string,
  work: Work,
  onDone: (utterance: string) => void,
): Promise<Word[]> {
  const file = (ending: string) => join(work.folder, `${name}.${ending}`);
  await writeFile(file('ctl'), share.map((utterance) => `${utterance.name}\n`).join(''));
  const args = [
    ...['-hmm', model.acousticModel, '-lm', model.languageModel, '-dict', model.dictionary],
    ...['-ctl', file('ctl'), '-cepdir', work.folder, '-cepext', '.wav'],
    ...['-adcin', 'yes', '-adchdr', String(WAV_HEADER_BYTES), '-hypseg', file('seg')],
    ...SEARCH_OPTIONS,
  ];
  const onErrorLine = (line: string) => {
    const match = DONE.exec(line);
    if (match?.[1] !== undefined) onDone(match[1]);
  };
  await programs.run('pocketsphinx_batch', args, { ...work, onErrorLine });
  const byName = new Map(share.map((utterance) => [utterance.name, utterance]));
  const lines = (await readFile(file('seg'), 'utf8')).split('\n');
  return lines.flatMap((line) => {
    const { utterance, words } = parseHypothesis(line);
    const origin = byName.get(utterance);
    if (origin === undefined) return [];
    return words.map(({ text, from, to }) => ({
      text,
      start: origin.start + from / FRAMES_PER_SECOND,
      end: origin.start + to / FRAMES_PER_SECOND,
      segment: origin.segment,
    }));
  });
}
