/** Makes sound as loud as platforms ask for: measured as ITU-R BS.1770, with true peaks below -1 dBTP. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { convertibleInput, DECODER_LIMITS, QUIET } from '../programs/arguments.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun } from '../work.ts';
import { limitPeaks } from './limiter.ts';
import { integratedLoudness, meterFilters, readBlocks } from './loudness.ts';

interface Measured {
  /** In LUFS; null for silence, and for less than 0.4 s. */
  readonly lufs: number | null;
  /** The highest true peak, in dBTP. */
  readonly peak: number;
}

/** Quieter sound is noise, which would only become loud noise. */
const QUIETEST_LUFS = -50;
const HIGHEST_DBTP = -1;
/** In decibels: coders raise peaks, so the first try leaves them some room. */
const FIRST_CEILING = -2;
/** Each round encodes and measures all of it; the second one mostly fits. */
const ROUNDS = 5;
/** Half of what is promised. */
const CLOSE_LU = 0.25;
const PROMISED_LU = 0.5;
/** A part of what is added is lost in the limiter. */
const INTO_LIMITER = 1.5;

interface Normalized {
  readonly path: string;
  /** For the user; empty if the sound is as loud as asked for. */
  readonly notes: readonly string[];
}

/**
 * Encodes the first sound of a file so that the result has this loudness.
 * @param target in LUFS
 * @param encode writes the sound with these filters, and returns the path of the result
 */
export async function encodeAsLoud(
  programs: Programs,
  { file, target }: { readonly file: string; readonly target: number },
  encode: (filters: readonly string[]) => Promise<string>,
  run: EngineRun,
): Promise<Normalized> {
  const before = await measure(programs, file, run);
  if (before.lufs === null || before.lufs < QUIETEST_LUFS) {
    const found =
      before.lufs === null ? 'is silent' : `has ${before.lufs.toFixed(1)} LUFS, so nobody speaks in it`;
    return { path: await encode([]), notes: [`the sound ${found}; its loudness is unchanged`] };
  }
  let gain = target - before.lufs;
  let ceiling = FIRST_CEILING;
  let isLimited = before.peak + gain > ceiling;
  for (let round = 1; ; round += 1) {
    const path = await encode([
      `volume=${gain.toFixed(2)}dB`,
      ...(isLimited ? [limitPeaks(toShare(ceiling))] : []),
    ]);
    const { lufs, peak } = await measure(programs, path, run);
    const missing = target - (lufs ?? before.lufs);
    const over = peak - HIGHEST_DBTP;
    if ((Math.abs(missing) <= CLOSE_LU && over <= 0) || round === ROUNDS)
      return { path, notes: describeRest(target - missing, target, over) };
    gain += isLimited ? INTO_LIMITER * missing : missing;
    // A tenth of a decibel, because the next try is encoded otherwise.
    if (over > 0) ceiling = Math.min(ceiling, FIRST_CEILING) - (isLimited ? over + 0.1 : 0);
    isLimited ||= over > 0;
  }
}

function describeRest(lufs: number, target: number, over: number): string[] {
  if (Math.abs(target - lufs) <= PROMISED_LU && over <= 0) return [];
  const peak = (HIGHEST_DBTP + over).toFixed(1);
  return [
    `its loudness is ${lufs.toFixed(1)} LUFS instead of ${target}, with peaks of ${peak} dBTP: its peaks are far above its mean`,
  ];
}

/** A share of full scale. */
function toShare(decibels: number): number {
  return Number((10 ** (decibels / 20)).toFixed(4));
}

const FILES = { blocks: 'normalize.lufs', peaks: 'normalize.peak' };

async function measure(programs: Programs, file: string, run: EngineRun): Promise<Measured> {
  const peaks = `ametadata=mode=print:key=lavfi.r128.true_peak:file=${FILES.peaks}`;
  const filters = meterFilters(FILES.blocks).replace('ebur128=', 'ebur128=peak=true:');
  const args = [
    ...QUIET,
    ...convertibleInput(file),
    '-map',
    '0:a:0',
    '-af',
    `${filters},${peaks}`,
    '-f',
    'null',
    '-',
  ];
  await programs.run('ffmpeg', args, { ...run, limits: DECODER_LIMITS });
  const text = await readFile(join(run.folder, FILES.peaks), 'utf8');
  const shares = [...text.matchAll(/lavfi\.r128\.true_peak=(\S+)/g)].map(([, share]) => Number(share));
  return {
    lufs: integratedLoudness(await readBlocks(run.folder, FILES.blocks)),
    peak: 20 * Math.log10(shares.reduce((most, share) => Math.max(most, share), 0)),
  };
}
