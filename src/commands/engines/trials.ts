/** The short sample of each step, run through configured engines, and its results as a table to choose by. */

import * as v from 'valibot';
import { formatBytes } from '../../base/amounts.ts';
import type { Context } from '../context/context.ts';
import { NullableNumber, NullableText } from '../context/output-schemas.ts';
import type { RecordForm } from '../context/records.ts';
import { ENGINE, tryEngine, type UsedEngine } from './engines.ts';

/** The result of one engine; what is not known is null. */
export const TRIAL = v.object({
  ...ENGINE.entries,
  result: v.picklist(['succeeded', 'failed', 'skipped']),
  language: NullableText,
  output: NullableText,
  /** Share of wrong words. */
  word_error_rate: NullableNumber,
  /** Agreement of translations with those of people, 0 to 100. */
  chrf: NullableNumber,
  /** Share of the words of a voice that the first recognizer of its language understands. */
  understood: NullableNumber,
  seconds: NullableNumber,
  /** Seconds for each second of sound. */
  real_time_factor: NullableNumber,
  /** The most memory that a model took. */
  memory_bytes: NullableNumber,
  /** Why it failed or was skipped. */
  problem: NullableText,
});

type TrialRow = v.InferOutput<typeof TRIAL>;

export const TRIAL_FIELDS: readonly string[] = Object.keys(TRIAL.entries);

export const TRIALS_FORM: RecordForm<TrialRow> = {
  plural: 'engines',
  idOf: ({ engine }) => engine,
  columns: [
    { head: 'USED FOR', field: 'step' },
    { head: 'ENGINE', field: 'engine' },
    { head: 'LANGUAGE', field: 'language' },
    { head: 'QUALITY', field: 'word_error_rate', text: (row) => writeQuality(row) ?? '-' },
    { head: 'TIME', field: 'real_time_factor', text: (row) => writeTime(row) ?? '-' },
    {
      head: 'MEMORY',
      field: 'memory_bytes',
      text: ({ memory_bytes: bytes }) => (bytes === null ? '-' : formatBytes(bytes)),
    },
    { head: { title: 'RESULT', status: true }, field: 'result' },
    {
      head: { title: 'OUTPUT', wraps: 20 },
      field: 'output',
      text: ({ output, problem }) => problem ?? output ?? '-',
    },
  ],
};

/** Tries one engine, and measures it if recognizers may listen to it. @throws the reason of the signal when that is aborted */
export async function runTrial(
  used: UsedEngine,
  context: Context,
  recognizers?: readonly UsedEngine[],
): Promise<TrialRow> {
  const { step, position, name } = used;
  const tried = { step, position, engine: name };
  try {
    const trial = await tryEngine(used, context, recognizers);
    if ('skipped' in trial) return { ...tried, ...UNKNOWN, result: 'skipped', problem: trial.skipped };
    const { language, output, wordErrorRate, chrF, understood, seconds, realTimeFactor, memoryBytes } = trial;
    return {
      ...tried,
      result: 'succeeded',
      language: language === '' ? null : language,
      output,
      word_error_rate: wordErrorRate,
      chrf: chrF,
      understood,
      seconds,
      real_time_factor: realTimeFactor,
      memory_bytes: memoryBytes,
      problem: null,
    };
  } catch (error) {
    context.signal.throwIfAborted();
    const problem = error instanceof Error ? error.message : String(error);
    return { ...tried, ...UNKNOWN, result: 'failed', problem };
  }
}

const UNKNOWN = {
  language: null,
  output: null,
  word_error_rate: null,
  chrf: null,
  understood: null,
  seconds: null,
  real_time_factor: null,
  memory_bytes: null,
} as const satisfies Partial<TrialRow>;

/** Formats the result of the sample on one line. */
export function formatTrial(row: TrialRow): string {
  const parts = [row.output, writeQuality(row), writeTime(row)];
  return parts.filter((part) => part !== null).join('; ');
}

function writeQuality({ word_error_rate: wrong, chrf, understood }: TrialRow): string | null {
  const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
  if (wrong !== null) return `${percent(wrong)} of the words wrong`;
  if (chrf !== null) return `chrF ${chrf.toFixed(1)}`;
  return understood === null ? null : `${percent(understood)} of the words understood`;
}

function writeTime({ real_time_factor: factor, seconds }: TrialRow): string | null {
  if (factor !== null) return `${factor.toFixed(2)} × real time`;
  return seconds === null ? null : `${seconds.toFixed(1)} s`;
}
