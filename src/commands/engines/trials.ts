/** The short sample of each step, run through configured engines, and its results as a table to choose by. */

import type { BackendStep } from '../../media/work.ts';
import type { Context } from '../context/context.ts';
import type { RecordForm } from '../context/records.ts';
import { tryEngine, type UsedEngine } from './engines.ts';

/** The result of one engine; what is not known is null. */
interface TrialRow {
  readonly step: BackendStep;
  readonly position: number;
  readonly engine: string;
  readonly result: 'succeeded' | 'failed' | 'skipped';
  readonly language: string | null;
  readonly output: string | null;
  /** Share of wrong words. */
  readonly word_error_rate: number | null;
  readonly seconds: number | null;
  /** Seconds for each second of sound. */
  readonly real_time_factor: number | null;
  /** Why it failed or was skipped. */
  readonly problem: string | null;
}

export const TRIALS_FORM: RecordForm<TrialRow> = {
  plural: 'engines',
  idOf: ({ engine }) => engine,
  columns: [
    { head: 'USED FOR', field: 'step' },
    { head: 'ENGINE', field: 'engine' },
    { head: 'LANGUAGE', field: 'language' },
    { head: 'WRONG WORDS', field: 'word_error_rate', text: (row) => writeShare(row) ?? '-' },
    { head: 'TIME', field: 'real_time_factor', text: (row) => writeTime(row) ?? '-' },
    { head: { title: 'RESULT', status: true }, field: 'result' },
    {
      head: { title: 'OUTPUT', shrinks: 1, least: 20 },
      field: 'output',
      text: ({ output, problem }) => problem ?? output ?? '-',
    },
  ],
};

export const TRIAL_FIELDS: readonly (keyof TrialRow)[] = [
  'step',
  'position',
  'engine',
  'result',
  'language',
  'output',
  'word_error_rate',
  'seconds',
  'real_time_factor',
  'problem',
];

/** Tries one engine. @throws the reason of the signal when that is aborted */
export async function runTrial(used: UsedEngine, context: Context): Promise<TrialRow> {
  const { step, position, name } = used;
  const tried = { step, position, engine: name };
  try {
    const trial = await tryEngine(used, context);
    if ('skipped' in trial) return { ...tried, ...UNKNOWN, result: 'skipped', problem: trial.skipped };
    const { language, output, wordErrorRate, seconds, realTimeFactor } = trial;
    return {
      ...tried,
      result: 'succeeded',
      language: language === '' ? null : language,
      output,
      word_error_rate: wordErrorRate,
      seconds,
      real_time_factor: realTimeFactor,
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
  seconds: null,
  real_time_factor: null,
} as const satisfies Partial<TrialRow>;

/** Formats the result of the sample on one line. */
export function formatTrial(row: TrialRow): string {
  const share = writeShare(row);
  const parts = [row.output, share === null ? null : `${share} of the words wrong`, writeTime(row)];
  return parts.filter((part) => part !== null).join('; ');
}

function writeShare({ word_error_rate: share }: TrialRow): string | null {
  return share === null ? null : `${(share * 100).toFixed(0)} %`;
}

function writeTime({ real_time_factor: factor, seconds }: TrialRow): string | null {
  if (factor !== null) return `${factor.toFixed(2)} × real time`;
  return seconds === null ? null : `${seconds.toFixed(1)} s`;
}
