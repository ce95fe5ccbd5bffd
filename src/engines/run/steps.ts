/**
 * The steps of jobs. Where jobs share results, each step is computed once for the same content, engines and settings.
 */
import { createHash } from 'node:crypto';
import { hashFile } from '../../base/hash-file.ts';
import type { EngineUse, JobStep, Work } from '../../media/work.ts';
import type { StepEngines } from '../choose.ts';
import { recognizeSpeech } from '../recognize/recognize.ts';
import { type Separation, separateSound } from '../separate/separate.ts';
import { speakDub } from '../speak/speak.ts';
import { translateSubtitle } from '../translate/translate.ts';

/** The track of a video that is decoded. */
const AUDIO_TRACK = 'a:0';

/** The result of a step, and the key under which it is shared; an empty key if it is not. */
type Shared<T> = T & { readonly key: string };

type SharedSeparation = Shared<Separation>;

/**
 * Separates the sound of a video, with the voice for recognition, so that all kinds of jobs can share it. All arguments
 * and errors are those of `separate`.
 */
export function separateOnce(engines: StepEngines, video: string, work: Work): Promise<SharedSeparation> {
  return once(
    { engines, step: 'separate', input: async () => [await hashFile(video), AUDIO_TRACK] },
    work,
    (own) => separateSound(engines, video, true, own),
  );
}

type Recognized = Awaited<ReturnType<typeof recognizeSpeech>>;

/** Recognizes the speech of a separation once, as `separateOnce` does. */
export function recognizeOnce(
  engines: StepEngines,
  separation: SharedSeparation,
  sourceLanguage: string,
  work: Work,
): Promise<Shared<Recognized>> {
  return once(
    { engines, step: 'recognize', input: async () => [separation.key, sourceLanguage] },
    work,
    (own) => recognizeSpeech(engines, separation, sourceLanguage, own),
  );
}

type Translation = Parameters<typeof translateSubtitle>[1];
type Translated = Awaited<ReturnType<typeof translateSubtitle>>;

/** Translates the lines once, as `separateOnce` does. */
export function translateOnce(
  engines: StepEngines,
  { lines, sourceLanguage, targetLanguage }: Translation,
  work: Work,
): Promise<Shared<Translated>> {
  const task = { lines, sourceLanguage, targetLanguage };
  return once({ engines, step: 'translate', input: async () => task }, work, (own) =>
    translateSubtitle(engines, task, own),
  );
}

type DubTask = Parameters<typeof speakDub>[1];
type Dub = Awaited<ReturnType<typeof speakDub>>;

/** Speaks the lines once, as `separateOnce` does. */
export function speakOnce(
  engines: StepEngines,
  { lines, targetLanguage, voiceMode, videoSeconds }: DubTask,
  work: Work,
): Promise<Shared<Dub>> {
  const task = { lines, targetLanguage, voiceMode, ...(videoSeconds === undefined ? {} : { videoSeconds }) };
  return once({ engines, step: 'speak', input: async () => task }, work, (own) =>
    speakDub(engines, task, own),
  );
}

interface StepFacts {
  readonly engines: StepEngines;
  readonly step: JobStep;
  /** Everything that the result depends on besides the engines. */
  readonly input: () => Promise<unknown>;
}

async function once<T extends { readonly use: EngineUse }>(
  { engines, step, input }: StepFacts,
  work: Work,
  compute: (work: Work) => Promise<T>,
): Promise<Shared<T>> {
  if (work.sharing === undefined) return { ...(await compute(work)), key: '' };
  const facts = [step, await input(), await engines.identify(step)];
  const key = createHash('sha256').update(JSON.stringify(facts)).digest('hex');
  const { result, reused } = await work.sharing.once(key, work, compute);
  work.report(1);
  return { ...result, use: reused ? { ...result.use, reused } : result.use, key };
}
