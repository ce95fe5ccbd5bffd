/** Puts pieces of sound behind one another, each at the sample where it belongs. */
import { openWav, type WavReader, type WavWriter } from '../../engines/media/wav.ts';
import { SAMPLE_RATE } from '../media/codecs.ts';
import { SAMPLES_BEHIND } from '../split/sound-context.ts';
import { carryOver, limit, smoothSeam } from './seam.ts';

export interface Piece {
  /** A 16-bit WAV file of the rate and channels of the result. */
  readonly path: string;
  /** Samples of each channel from its beginning to that of the next piece. */
  readonly frames: number;
}

/** What a seam is bent over on either side: 5 ms at 48 kHz, too short to be heard as a sound of its own. */
const SEAM_FRAMES = 240;
/** Two AAC frames of a part sound on over the next, the first of them alone: so long are the badly coded ones behind a start. */
const SOUND_ON_SECONDS = 2_048 / SAMPLE_RATE;
const ALONE = 0.5;
/**
 * What a service that keeps the sound to the length of the picture has behind it is an encoder's padding: up to two frames of AAC,
 * which is less than three quarters of what the parts were sent with.
 */
const TRUSTED_SECONDS = (0.75 * SAMPLES_BEHIND) / SAMPLE_RATE;
/** A dub overruns its border by the rest of a sentence; more than a minute is a fault, and would fill the memory. */
const MOST_OVERRUN_SECONDS = 60;
/** A second at a time. */
const BLOCK_FRAMES = 48_000;

/**
 * Appends the pieces to a WAV. A piece that is too short is followed by silence.
 * @param manner `cut`: what is too long fades away behind the border, and steps at the seams are smoothed; `overlap`: what is too long
 *   sounds on into the next piece, as a dub whose last sentence takes its time
 */
export async function appendPieces(
  pieces: readonly Piece[],
  manner: 'cut' | 'overlap',
  out: WavWriter,
): Promise<void> {
  let tail = new Int16Array(0);
  let behind = new Int16Array(0);
  let overrun = new Int16Array(0);
  for (const [index, piece] of pieces.entries()) {
    const wav = await openWav(piece.path);
    try {
      const held = manner === 'cut' && index < pieces.length - 1 ? Math.min(SEAM_FRAMES, piece.frames) : 0;
      let at = 0;
      if (tail.length > 0) {
        const length = Math.max(SEAM_FRAMES, behind.length / out.channels);
        const head = (await wav.read(0, Math.min(length, piece.frames - held))).slice();
        carryOver(behind, head, out.channels, ALONE);
        smoothSeam(tail, head, out.channels);
        await out.write(tail);
        await out.write(head);
        at = head.length / out.channels;
      }
      for (; at < piece.frames - held; at += BLOCK_FRAMES) {
        const block = await wav.read(at, Math.min(BLOCK_FRAMES, piece.frames - held - at));
        await out.write(addOver(block, overrun, at * out.channels));
      }
      tail = (await wav.read(piece.frames - held, held)).slice();
      behind = manner === 'cut' ? await soundBehind(wav, piece.frames) : behind;
      overrun = manner === 'overlap' ? await restOf(wav, piece.frames, overrun) : overrun;
    } finally {
      await wav.close();
    }
  }
  await out.write(overrun);
}

/** What goes on behind a border of the sound that the part was sent with; nothing when that is not there. */
async function soundBehind(wav: WavReader, border: number): Promise<Int16Array<ArrayBuffer>> {
  const isThere = wav.frames - border >= TRUSTED_SECONDS * wav.sampleRate;
  return (await wav.read(border, isThere ? Math.round(SOUND_ON_SECONDS * wav.sampleRate) : 0)).slice();
}

/** Adds what sounds on from before; `from` is the place of the block among the samples of its piece. */
function addOver(block: Int16Array, overrun: Int16Array, from: number): Int16Array {
  if (from >= overrun.length) return block;
  return block.map((sample, at) => limit(sample + (overrun[from + at] ?? 0)));
}

/** What of a piece lies behind its border, together with what of earlier ones does. */
async function restOf(wav: WavReader, border: number, earlier: Int16Array): Promise<Int16Array<ArrayBuffer>> {
  const frames = Math.min(wav.frames - border, MOST_OVERRUN_SECONDS * wav.sampleRate);
  const own = (await wav.read(border, Math.max(0, frames))).slice();
  const still = earlier.slice(border * wav.channels);
  const [longer, shorter] = own.length >= still.length ? [own, still] : [still, own];
  return longer.map((sample, at) => limit(sample + (shorter[at] ?? 0)));
}
