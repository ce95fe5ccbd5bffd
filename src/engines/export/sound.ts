/** The sound of the finished video, as a filter graph: pure. */
import type { Tasks } from '../engine.ts';

export type OriginalAudio = Tasks['auto_localization']['originalAudio'];

/** The limiter looks 5 ms ahead and gives its sound so much later: 240 samples at 48 kHz, the first of which is let through. */
const LOOKAHEAD_SAMPLES = 239;
/**
 * Peaks stay below this share of full scale, since AAC adds a little; `level=0` keeps the limiter from raising the rest. Its
 * delay is cut off in front, and made up for behind; its own `latency` option would do both, from ffmpeg 5.1 on only.
 */
const LIMITER = [
  `apad=pad_len=${LOOKAHEAD_SAMPLES}`,
  'alimiter=limit=0.95:level=0:attack=5',
  `atrim=start_sample=${LOOKAHEAD_SAMPLES}`,
  'asetpts=PTS-STARTPTS',
].join(',');

/**
 * The original is lowered by about 12 dB while the dub speaks, within 20 ms, and comes back over half a second. The
 * threshold of -40 dB is below any speech and above the silence of the dub.
 */
const DUCKING = 'sidechaincompress=threshold=0.01:ratio=8:attack=20:release=500:makeup=1';

/** The original as the dub is: two channels, 48 kHz, beginning with the picture. */
const ORIGINAL = 'aresample=48000:async=1:first_pts=0,aformat=channel_layouts=stereo';

export interface SoundInputs {
  /** Positions of the inputs among ffmpeg's; `original` is what remains of the video's own sound. */
  readonly original: string | null;
  readonly dub: string;
}

/**
 * Mixes the dub (mono) with the background or with the ducked original (stereo) to exactly `seconds`, as `[sound]`.
 * @param gainDecibels brings the dub to the loudness of the original speech
 */
export function soundGraph(
  mode: OriginalAudio,
  inputs: SoundInputs,
  gainDecibels: number,
  seconds: number,
): string {
  const voice = `[${inputs.dub}]volume=${gainDecibels.toFixed(2)}dB,pan=stereo|c0=c0|c1=c0`;
  const end = `${LIMITER},apad=whole_dur=${seconds},atrim=0:${seconds}[sound]`;
  const mix = 'amix=inputs=2:normalize=0:duration=longest';
  if (mode === 'mute' || inputs.original === null) return `${voice},${end}`;
  if (mode === 'background') return `${voice}[voice];[${inputs.original}][voice]${mix},${end}`;
  return [
    // Whichever of the two ends first ends both, with what the compressor still holds: seconds, where ffmpeg reads the
    // original far ahead of the dub because the picture is slow to encode. So neither ends.
    `${voice},asplit[voice][short];[short]apad[key]`,
    `[${inputs.original}]${ORIGINAL},apad[original];[original][key]${DUCKING}[low]`,
    `[low][voice]${mix},${end}`,
  ].join(';');
}

/** espeak-ng speaks at about this level, in decibels below full scale, pauses left out. */
const DUB_DECIBELS = -18;
/** Quiet recordings are not raised into noise, nor loud ones matched into distortion. */
const MAX_GAIN = 9;

/** Decibels that bring the dub to the level of the original speech. */
export function dubGain(speechDecibels: number | null): number {
  if (speechDecibels === null) return 0;
  return Math.max(-MAX_GAIN, Math.min(MAX_GAIN, speechDecibels - DUB_DECIBELS));
}
