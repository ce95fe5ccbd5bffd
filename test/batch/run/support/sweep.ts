/** Runs of a batch that end at a system call on one of their files. */
import { join } from 'node:path';
import { bundleScript } from '../../../support/bundled.ts';
import {
  filesOf,
  killAt,
  pointsOf,
  type SweepPoint,
  type SweptProcess,
} from '../../records/support/strace.ts';
import { OWN_RUN, type OwnRun } from './own-run.ts';

/** A result in the folder of results, and what it is called until it is whole. */
export const resultIn = (language: string) => `talk.${language}.mp4`;
const partOf = (result: string) => `.${result}.part`;

/** Those of a run with the one language of most scenes. */
export const RESULT = resultIn('es');
export const PART = partOf(RESULT);

/**
 * The files that a run must never leave in a state that the next one cannot continue from, and their folders.
 */
const SWEPT = {
  records: ({ out, stateDir }: OwnRun) =>
    [join(out, '.vloc'), stateDir].flatMap((folder) => filesOf(join(folder, 'records.db'))),
  results: ({ out, languages = [] }: OwnRun) => {
    const results = languages.map(resultIn);
    return [out, ...[...results.map(partOf), ...results, '.vloc'].map((name) => join(out, name))];
  },
} as const;

async function processOf(run: OwnRun): Promise<SweptProcess> {
  return {
    command: [process.execPath, await bundleScript(OWN_RUN), JSON.stringify(run)],
    files: { records: SWEPT.records(run), results: SWEPT.results(run) },
  };
}

/** True when the run was killed at the point; false when it ended before it came there. */
export async function runUntil(run: OwnRun, point: Omit<SweepPoint, 'isLate'>): Promise<boolean> {
  return (await killAt(await processOf(run), point)).isKilled;
}

/** All points of a run that nothing ends, in the order in which it comes to them. @param trace a file for strace */
export async function listPoints(run: OwnRun, trace: string): Promise<readonly SweepPoint[]> {
  return pointsOf(await processOf(run), trace);
}
