/** Joins pieces of sound, each at its exact sample, without clicks at the seams. */
import { openWav, type WavReader, type WavWriter } from '../../engines/media/wav.ts';
import { SAMPLE_RATE } from '../media/codecs.ts';
import { SAMPLES_BEHIND } from '../split/limits.ts';

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

/**
 * A step is heard when it is this many times as large as the largest near it. Against the mean of those near it, one seam in
 * sixteen would be bent in the noise of a room, whose samples jump about by themselves.
 */
const LOUD_STEP = 1.5;

/**
 * Bends the end of one part and the beginning of the next towards each other where they would click, most at the seam and
 * fading out to both sides; leaves them as they are where they meet smoothly.
 * @param tail interleaved samples before the seam, changed in place
 * @param head interleaved samples behind it, changed in place
 * @returns whether any channel was changed
 */
export function smoothSeam(tail: Int16Array, head: Int16Array, channels: number): boolean {
  const frames = Math.min(tail.length, head.length) / channels;
  let changed = false;
  for (let channel = 0; channel < channels; channel += 1) {
    const before = (back: number) => tail[tail.length - (back + 1) * channels + channel] ?? 0;
    const behind = (at: number) => head[at * channels + channel] ?? 0;
    let largest = 0;
    for (let at = 2; at < frames; at += 1) {
      const left = stepTo(before(at), before(at - 1), before(at - 2));
      const right = stepTo(behind(at), behind(at - 1), behind(at - 2));
      largest = Math.max(largest, Math.abs(left), Math.abs(right));
    }
    const step = stepTo(behind(0), before(0), before(1));
    if (Math.abs(step) <= LOUD_STEP * largest + 1) continue;
    changed = true;
    for (let at = 0; at < frames; at += 1) {
      const share = 0.25 * (1 + Math.cos((Math.PI * (at + 0.5)) / frames)); // from a half to none
      const left = tail.length - (at + 1) * channels + channel;
      tail[left] = limit(before(at) + step * share);
      head[at * channels + channel] = limit(behind(at) - step * share);
    }
  }
  return changed;
}

/** How far a sample lies from where the two before it point. */
function stepTo(sample: number, previous: number, earlier: number): number {
  return sample - (2 * previous - earlier);
}

/**
 * Lets the sound of one part go on over the beginning of the next, which an encoder that knew nothing of it has coded badly. It
 * is heard alone at first, then fades into the next part's: linearly, since both have the same sound there, which an equal-power
 * fade would raise by 3 dB.
 * @param behind interleaved samples behind the border of the part before; silence is no sound: empty when there are none
 * @param head interleaved samples of the next part, changed in place
 * @param alone share of `behind` that is heard alone, 0 to 1
 */
export function carryOver(behind: Int16Array, head: Int16Array, channels: number, alone: number): void {
  const frames = behind.length / channels;
  const held = frames * alone;
  for (let at = 0; at < Math.min(behind.length, head.length); at += 1) {
    const share = Math.max(0, (Math.floor(at / channels) + 0.5 - held) / (frames - held));
    head[at] = limit((behind[at] ?? 0) * (1 - share) + (head[at] ?? 0) * share);
  }
}

/** Sum of two samples or more, kept within 16 bits. */
function limit(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}
