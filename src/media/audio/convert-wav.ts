/** Converts WAV files to another format. */

import { fileAddress, ownInput, QUIET } from '../programs/arguments.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun } from '../work.ts';

interface WavTarget {
  readonly sampleRate: number;
  /** Default: as in the input. */
  readonly channels?: number;
  /** Exact length in frames: longer sound is cut, shorter sound is padded with silence. Default: as in the input. */
  readonly frames?: number;
}

/** Writes a 16-bit WAV file from another WAV file. Returns its path. @throws ChildFailure if the input is no WAV file */
export async function convertWav(
  programs: Programs,
  from: string,
  to: string,
  { sampleRate, channels, frames }: WavTarget,
  run: EngineRun,
): Promise<string> {
  const exact =
    frames === undefined
      ? []
      : ['-af', `aresample=${sampleRate},apad=whole_len=${frames},atrim=end_sample=${frames}`];
  const layout = channels === undefined ? [] : ['-ac', String(channels)];
  const args = [
    ...[...QUIET, ...ownInput(from, 'wav'), ...exact, ...layout, '-ar', String(sampleRate)],
    ...['-c:a', 'pcm_s16le', '-f', 'wav', fileAddress(to)],
  ];
  await programs.run('ffmpeg', args, run);
  return to;
}
