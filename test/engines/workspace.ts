/** What tests of media work share: a folder that goes with the test, the machine's programs, small media. */
import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, renameSync } from 'node:fs';
import { extname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import type { StepEngines } from '../../src/engines/choose.ts';
import type { EnginesConfig } from '../../src/engines/config.ts';
import { createStepEngines } from '../../src/engines/create.ts';
import { createPrograms } from '../../src/media/programs/programs.ts';
import type { Stage, Work } from '../../src/media/work.ts';
// Declares the run folder, also for the project of the report page.
import type {} from '../structure/run-folder.ts';
import { askProgram, makeMedia, rememberingPath } from '../support/remembered-programs.ts';

/** Programs whose answers are remembered. Tests of how a program is run use the real ones. */
export const programs = createPrograms(rememberingPath());

/** The engines of all steps; the built-in ones without a configuration. */
export function stepEngines(
  config: EnginesConfig | null = null,
  programsOfEngines = programs,
): Promise<StepEngines> {
  const sleep = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal });
  return createStepEngines(config, { programs: programsOfEngines, env: process.env, warn: () => {}, sleep });
}
export const SAMPLE = fileURLToPath(new URL('../fixtures/sample.mp4', import.meta.url));

/** Clean speech of the clip with that number in `sample.json`, 16 kHz mono. */
export function speechClip(number: '0870' | '0880'): string {
  const folder = number === '0870' ? '../../src/engines/trial' : '../fixtures';
  return fileURLToPath(new URL(`${folder}/speech-${number}.flac`, import.meta.url));
}

/**
 * How many frames a video has, and how many show two fields of different times, by ffmpeg's own detector: in brightness,
 * and in the two colours.
 */
export function detectFields(file: string): { frames: number; combed: readonly [number, number, number] } {
  const graph = '[0:V]extractplanes=y+u+v[y][u][v];[y]idet[a];[u]idet[b];[v]idet[c]';
  const maps = ['[a]', '[b]', '[c]'].flatMap((plane) => ['-map', plane]);
  const args = ['-hide_banner', '-nostats', '-i', file, '-filter_complex', graph, ...maps, '-f', 'null', '-'];
  const stderr = execFileSync('sh', ['-c', 'ffmpeg "$@" 2>&1', 'sh', ...args], { encoding: 'utf8' });
  const found =
    /Multi frame detection: TFF:\s*(\d+) BFF:\s*(\d+) Progressive:\s*(\d+) Undetermined:\s*(\d+)/g;
  // It ends the filters from the last to the first; what it printed before is about none of the frames.
  const planes = [...stderr.matchAll(found)].slice(-3).map((row) => row.slice(1).map(Number));
  const [v = 0, u = 0, y = 0] = planes.map(([top = 0, bottom = 0]) => top + bottom);
  return { combed: [y, u, v], frames: planes.at(-1)?.reduce((sum, count) => sum + count) ?? 0 };
}

export const countCombed = (file: string): number => detectFields(file).combed[0];

/** Whether a process is there and not merely waiting to be reaped. */
export function isAlive(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

export interface RecordedWork extends Work {
  readonly reports: { fraction: number; stage: Stage | undefined }[];
}

/** Work in a folder, with its progress recorded. */
export function createWork(folder: string, signal = new AbortController().signal): RecordedWork {
  const reports: RecordedWork['reports'] = [];
  return { folder, signal, reports, report: (fraction, stage) => reports.push({ fraction, stage }) };
}

/**
 * Runs ffmpeg to make media for a test; arguments as on the command line, the last one is the file to write. Media that are
 * made from nothing but the arguments are made once in a run of the suite, and then copied.
 */
export function ffmpeg(...args: string[]): void {
  const run = (to: string) => makeMedia(...args.slice(0, -1), to);
  const to = args.at(-1) ?? '';
  const inputs = args.filter((_, at) => args[at - 1] === '-i');
  const formats = args.filter((_, at) => args[at - 1] === '-f');
  const isSynthetic =
    inputs.length > 0 && formats.filter((name) => name === 'lavfi').length === inputs.length;
  // Options may name a second output or a log; such commands run as they are.
  if (!isSynthetic || args.slice(0, -1).some((word) => word.includes('/'))) {
    run(to);
    return;
  }
  const recipe = createHash('sha256').update(args.slice(0, -1).join('\0')).digest('hex').slice(0, 32);
  const made = join(inject('runFolder'), `media-${recipe}${extname(to)}`);
  if (!existsSync(made)) {
    // Under another name until it is whole: two test processes may make it at the same time.
    const part = join(inject('runFolder'), `part-${randomUUID()}${extname(to)}`);
    run(part);
    renameSync(part, made);
  }
  copyFileSync(made, to);
}

/** One value that ffprobe shows, such as `stream=codec_name` of `v:0`. */
export function ffprobe(file: string, entries: string, stream?: string): string {
  const selection = stream === undefined ? [] : ['-select_streams', stream];
  const args = ['-v', 'error', ...selection, '-show_entries', entries, '-of', 'default=nk=1:nw=1', file];
  return askProgram('ffprobe', args).toString().trim();
}
