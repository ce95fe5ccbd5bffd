/** Cuts the voice into one file a stretch of speech, and shares them out to the processes that recognize them. */
import { join } from 'node:path';
import { createWav, openWav } from '../media/wav-file.ts';
import { type Segment, SPEECH_MARGIN } from '../separate/segments.ts';

export interface Utterance {
  /** Name of its file in the work folder, without `.wav`. */
  readonly name: string;
  /** Position of its segment. */
  readonly segment: number;
  /** Where its first sample lies in the video, in seconds. */
  readonly start: number;
  /** Length in seconds. */
  readonly length: number;
}

/** Writes each segment of a 16 kHz mono file, with a margin, as a WAV file of its own. */
export async function cutUtterances(
  voicePath: string,
  segments: readonly Segment[],
  folder: string,
): Promise<Utterance[]> {
  const voice = await openWav(voicePath);
  const utterances: Utterance[] = [];
  try {
    for (const [segment, { start, end }] of segments.entries()) {
      const from = Math.max(0, Math.round((start - SPEECH_MARGIN) * voice.sampleRate));
      const to = Math.min(voice.frames, Math.round((end + SPEECH_MARGIN) * voice.sampleRate));
      if (to <= from) continue;
      const name = `utterance-${segment}`;
      const file = await createWav(join(folder, `${name}.wav`), voice);
      await file.write(await voice.read(from, to - from));
      await file.close();
      const length = (to - from) / voice.sampleRate;
      utterances.push({ name, segment, start: from / voice.sampleRate, length });
    }
  } finally {
    await voice.close();
  }
  return utterances;
}

/** Shares utterances out so that all processes have about the same length to do: the longest first, to the idlest. */
export function shareOut(utterances: readonly Utterance[], processes: number): Utterance[][] {
  const shares: { load: number; items: Utterance[] }[] = Array.from(
    { length: Math.max(1, processes) },
    () => ({
      load: 0,
      items: [],
    }),
  );
  for (const utterance of utterances.toSorted((a, b) => b.length - a.length)) {
    const idlest = shares.reduce((best, share) => (share.load < best.load ? share : best));
    idlest.items.push(utterance);
    idlest.load += utterance.length;
  }
  return shares.map((share) => share.items).filter((items) => items.length > 0);
}
