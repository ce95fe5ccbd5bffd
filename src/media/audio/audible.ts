/** Finds where a sound is not silent. */
import { openWav } from './wav.ts';

/** Peaks below this (-60 dB) are noise of a format or a program. */
const AUDIBLE = 33;
/** Frames that are read at a time. */
const BLOCK = 65_536;

/**
 * Returns how long a 16-bit WAV is heard after a time, up to its last sample that is not silent; 0 if it is not.
 * @param from in seconds
 * @param to in seconds; later sound does not count
 * @param level of samples that are silent
 */
export async function audibleSeconds(
  path: string,
  from = 0,
  to = Number.POSITIVE_INFINITY,
  level = AUDIBLE,
): Promise<number> {
  const wav = await openWav(path);
  try {
    const first = Math.round(from * wav.sampleRate);
    const end = Math.min(wav.frames, Math.round(to * wav.sampleRate));
    let heard = first;
    for (let at = first; at < end; at += BLOCK) {
      const samples = await wav.read(at, Math.min(BLOCK, end - at));
      const last = samples.findLastIndex((sample) => Math.abs(sample) > level);
      if (last >= 0) heard = at + Math.floor(last / wav.channels) + 1;
    }
    return (heard - first) / wav.sampleRate;
  } finally {
    await wav.close();
  }
}
