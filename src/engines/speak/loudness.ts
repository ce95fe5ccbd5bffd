/** Measures loudness in LUFS (ITU-R BS.1770), and levels a dub to the original voice. */

import type { EngineRun } from '../backend.ts';
import { DUB_DECIBELS } from '../export/export.ts';
import { ownInput } from '../media/arguments.ts';
import type { Programs } from '../programs.ts';

/** A recording that is quieter or louder than this is not imitated: a dub must stay clear and undistorted. */
const QUIETEST_LUFS = -27;
const LOUDEST_LUFS = -9;
/** What ffmpeg reports for silence. */
const SILENCE_LUFS = -70;
/** Peaks stay below this share of full scale. `level=0` keeps the limiter from raising the rest. */
const LIMITER = 'alimiter=limit=0.95:level=0';

/**
 * Returns ffmpeg arguments that give a dub the loudness of the original voice.
 * @param voice WAV of the original voice; null if there is none
 */
export async function levelDub(
  programs: Programs,
  dub: string,
  voice: string | null,
  run: EngineRun,
): Promise<string[]> {
  const [own, original] = await Promise.all([
    measureLoudness(programs, dub, run),
    voice === null ? null : measureLoudness(programs, voice, run),
  ]);
  if (own === null) return [];
  const target = Math.max(QUIETEST_LUFS, Math.min(LOUDEST_LUFS, original ?? DUB_DECIBELS));
  return ['-af', `volume=${(target - own).toFixed(2)}dB,${LIMITER}`];
}

/** Returns the integrated loudness of a WAV file in LUFS; null if it is silent or shorter than 0.4 s. */
export async function measureLoudness(
  programs: Programs,
  wav: string,
  run: EngineRun,
): Promise<number | null> {
  let loudness: number | null = null;
  // The summary comes last: `    I:         -19.4 LUFS`.
  const onErrorLine = (line: string) => {
    const value = /^\s*I:\s+(-?[\d.]+) LUFS/.exec(line)?.[1];
    if (value !== undefined) loudness = Number(value);
  };
  const filter = ['-af', 'ebur128=framelog=verbose', '-f', 'null', '-'];
  const args = ['-hide_banner', '-nostdin', '-nostats', '-y', ...ownInput(wav, 'wav'), ...filter];
  await programs.run('ffmpeg', args, { ...run, onErrorLine });
  return loudness === null || loudness <= SILENCE_LUFS ? null : loudness;
}
