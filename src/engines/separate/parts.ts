/** Steps of a separation that work on a part of a file, so that several parts are done at the same time. */
import { join } from 'node:path';
import { STEM_FORMAT } from '../../media/audio/decode-audio.ts';
import { openWav, openWavPart, type WavWriter } from '../../media/audio/wav.ts';
import { type Click, withoutClicks } from './clicks.ts';
import { type DenoisedPart, denoise, firstDenoised } from './denoise.ts';
import { firstFrame, type Part, type StemInput, splitStems } from './stems.ts';
import { WORKER_FILES } from './worker-messages.ts';

/** The sound of one work folder in which the voice is looked for. */
export interface VoiceSource {
  readonly folder: string;
  readonly source: 'mix' | 'centre';
}

/** What all parts of the stems share. */
export interface SplitPlan
  extends VoiceSource,
    Pick<StemInput, 'segments' | 'weights' | 'directions' | 'apart'> {
  /** Whether the voice track for recognition is requested. */
  readonly withVoice: boolean;
  readonly clicks: readonly Click[];
}

type Report = (fraction: number) => void;

/** The format of the denoised sound, and of the voice track for recognition. */
export const VOICE_FORMAT = { ...STEM_FORMAT, channels: 1 } as const;

/** Writes a part of the file `denoised`. */
export async function denoisePart(
  { folder, source, part }: VoiceSource & { readonly part: Part },
  report: Report,
): Promise<DenoisedPart> {
  const sound = await openWav(join(folder, WORKER_FILES[source]));
  const into = await openWavPart(join(folder, WORKER_FILES.denoised), VOICE_FORMAT, firstDenoised(part));
  const measured = await denoise(sound, into, part, report);
  await Promise.all([sound, into].map((file) => file.close()));
  return measured;
}

/** Writes a part of the stems. */
export async function splitPart(
  { plan, part }: { readonly plan: SplitPlan; readonly part: Part },
  report: Report,
): Promise<void> {
  const { clicks, segments, weights, directions, apart } = plan;
  const path = (name: keyof typeof WORKER_FILES) => join(plan.folder, WORKER_FILES[name]);
  const mix = await openWav(path('mix'));
  const source = await openWav(path(plan.source));
  const denoised = await openWav(path('denoised'));
  const from = firstFrame(part);
  const vocals = await openWavPart(path('vocals'), STEM_FORMAT, from);
  const background = await openWavPart(path('background'), STEM_FORMAT, from);
  const voice: WavWriter | null = plan.withVoice
    ? await openWavPart(path('voice'), VOICE_FORMAT, from)
    : null;
  const input = {
    mix,
    source: withoutClicks(source, clicks),
    denoised,
    segments,
    weights,
    directions,
    apart,
  };
  await splitStems(input, { vocals, background, voice }, part, report);
  await Promise.all([mix, source, denoised, vocals, background, voice].map((file) => file?.close()));
}
