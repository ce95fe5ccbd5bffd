/** Measures loudness in LUFS (ITU-R BS.1770) with ffmpeg. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ownInput, QUIET } from '../programs/arguments.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun } from '../work.ts';

/** Energy of 400 ms of a sound, one every 100 ms, weighted as in BS.1770; 1 is 0 LUFS. */
export type LoudnessBlocks = Float64Array;

/**
 * Returns filters that write the blocks of a sound into a file.
 * @param file name in the work folder, which is ffmpeg's working folder, so that no filter must quote a path
 */
export function meterFilters(file: string): string {
  return `ebur128=metadata=1,ametadata=mode=print:key=lavfi.r128.M:file=${file}`;
}

/** Reads the file of a meter. */
export async function readBlocks(folder: string, file: string): Promise<LoudnessBlocks> {
  const text = await readFile(join(folder, file), 'utf8');
  const lufs = [...text.matchAll(/lavfi\.r128\.M=(\S+)/g)].map(([, value]) => Number(value));
  return Float64Array.from(lufs, (value) => (Number.isFinite(value) ? toEnergy(value) : 0));
}

/** Converts LUFS or decibels to energy. */
export function toEnergy(decibels: number): number {
  return 10 ** (decibels / 10);
}

function toLufs(energy: number): number {
  return 10 * Math.log10(energy);
}

/** Quieter blocks are silence, and those this much below the mean are pauses. Source: BS.1770-4, gating. */
const SILENCE = toEnergy(-70);
const PAUSE = toEnergy(-10);

/** Returns the loudness of a sound in LUFS, without its pauses; null if it is silent or shorter than 0.4 s. */
export function integratedLoudness(blocks: LoudnessBlocks): number | null {
  const mean = (least: number): number => {
    let sum = 0;
    let count = 0;
    for (const block of blocks) {
      if (block <= least) continue;
      sum += block;
      count += 1;
    }
    return count === 0 ? 0 : sum / count;
  };
  const heard = mean(SILENCE);
  return heard === 0 ? null : toLufs(mean(Math.max(SILENCE, PAUSE * heard)));
}

/** Returns the loudness of a WAV file in LUFS; null if it is silent or shorter than 0.4 s. */
export async function measureLoudness(
  programs: Programs,
  wav: string,
  run: EngineRun,
): Promise<number | null> {
  const file = 'loudness.txt';
  const args = [...QUIET, ...ownInput(wav, 'wav'), '-af', meterFilters(file), '-f', 'null', '-'];
  await programs.run('ffmpeg', args, run);
  return integratedLoudness(await readBlocks(run.folder, file));
}
