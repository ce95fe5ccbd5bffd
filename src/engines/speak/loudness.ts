/** Levels a dub. */
import type { EngineRun } from '../backend.ts';
import { measureLoudness } from '../media/loudness.ts';
import type { Programs } from '../programs.ts';

/** The loudness of a dub on its own, in LUFS: clear on all devices, and of usual speech without clipping. */
const DUB_LUFS = -18;
/** Peaks stay below this share of full scale. `level=0` keeps the limiter from raising the rest. */
const LIMITER = 'alimiter=limit=0.95:level=0';

/** Returns ffmpeg arguments that give a dub the usual loudness. The export brings it to that of the source. */
export async function levelDub(programs: Programs, dub: string, run: EngineRun): Promise<string[]> {
  const own = await measureLoudness(programs, dub, run);
  return own === null ? [] : ['-af', `volume=${(DUB_LUFS - own).toFixed(2)}dB,${LIMITER}`];
}
