/** What tests of media work share: a folder that goes with the test, the machine's programs, small media. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Stage, Work } from '../../src/engines/engine.ts';
import { createPrograms } from '../../src/engines/programs.ts';

export const programs = createPrograms(process.env.PATH ?? '');
export const SAMPLE = fileURLToPath(new URL('../fixtures/sample.mp4', import.meta.url));

/** Clean speech of the clip with that number in `sample.json`, 16 kHz mono. */
export function speechClip(number: '0870' | '0880'): string {
  return fileURLToPath(new URL(`../fixtures/speech-${number}.flac`, import.meta.url));
}

/** A folder that is removed when the test has finished. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vloc-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface RecordedWork extends Work {
  readonly reports: { fraction: number; stage: Stage | undefined }[];
}

/** Work in a folder, with its progress recorded. */
export function createWork(folder: string, signal = new AbortController().signal): RecordedWork {
  const reports: RecordedWork['reports'] = [];
  return { folder, signal, reports, report: (fraction, stage) => reports.push({ fraction, stage }) };
}

/** Runs ffmpeg to make media for a test; arguments as on the command line. */
export function ffmpeg(...args: string[]): void {
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args]);
}

/** One value that ffprobe shows, such as `stream=codec_name` of `v:0`. */
export function ffprobe(file: string, entries: string, stream?: string): string {
  const selection = stream === undefined ? [] : ['-select_streams', stream];
  const args = ['-v', 'error', ...selection, '-show_entries', entries, '-of', 'default=nk=1:nw=1', file];
  return execFileSync('ffprobe', args, { encoding: 'utf8' }).trim();
}
