/** Puts pieces of sound behind one another, each at the sample where it belongs. */
import { openWav, type WavReader, type WavWriter } from '../../engines/media/wav-file.ts';
import { limit, smoothSeam } from './seam.ts';

export interface Piece {
  /** A 16-bit WAV file of the rate and channels of the result. */
  readonly path: string;
  /** Samples of each channel from its beginning to that of the next piece. */
  readonly frames: number;
}

/** What a seam is bent over on either side: 5 ms at 48 kHz, too short to be heard as a sound of its own. */
const SEAM_FRAMES = 240;
/** A dub overruns its border by the rest of a sentence; more than a minute is a fault, and would fill the memory. */
const MOST_OVERRUN_SECONDS = 60;
/** A second at a time. */
const BLOCK_FRAMES = 48_000;

/**
 * Appends the pieces to a WAV. A piece that is too short is followed by silence.
 * @param manner `cut`: what is too long ends at the border, and steps at the seams are smoothed; `overlap`: what is too long
 *   sounds on into the next piece, as a dub whose last sentence takes its time
 */
export async function appendPieces(
  pieces: readonly Piece[],
  manner: 'cut' | 'overlap',
  out: WavWriter,
): Promise<void> {
  let tail = new Int16Array(0);
  let overrun = new Int16Array(0);
  for (const [index, piece] of pieces.entries()) {
    const wav = await openWav(piece.path);
    try {
      const held = manner === 'cut' && index < pieces.length - 1 ? Math.min(SEAM_FRAMES, piece.frames) : 0;
      let at = 0;
      if (tail.length > 0) {
        const head = (await wav.read(0, Math.min(SEAM_FRAMES, piece.frames - held))).slice();
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
      overrun = manner === 'overlap' ? await restOf(wav, piece.frames, overrun) : overrun;
    } finally {
      await wav.close();
    }
  }
  await out.write(overrun);
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
