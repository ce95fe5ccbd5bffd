/** How loud the original speech is, so that the dub can be brought to its level: pure. */
import type { SoundOutline } from '../../engines/media/peaks.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';

/** Below this a voice has paused; what a separation leaves behind in pauses is no speech. */
const PAUSE_DECIBELS = -55;

/**
 * Mean level of the voice while cues are shown, pauses left out.
 * @returns decibels below full scale; null when there is no voice
 */
export function speechLevel(
  { stepMs, decibels }: SoundOutline['loudness'],
  lines: readonly Pick<SubtitleLine, 'start_ms' | 'end_ms'>[],
): number | null {
  let energy = 0;
  let steps = 0;
  for (const { start_ms, end_ms } of lines) {
    const during = decibels.subarray(Math.floor(start_ms / stepMs), Math.ceil(end_ms / stepMs));
    for (const level of during) {
      if (level <= PAUSE_DECIBELS) continue;
      energy += 10 ** (level / 10);
      steps += 1;
    }
  }
  return steps === 0 ? null : 10 * Math.log10(energy / steps);
}
