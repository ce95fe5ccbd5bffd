/** The five kinds of job: which steps run, in which order. */
import { runTogether } from '../../base/together.ts';
import { medianPitch } from '../../media/audio/pitch.ts';
import {
  checkExport,
  type ExportAudio,
  exportVideo,
  type PreparedExport,
  prepareExport,
} from '../../media/export/export.ts';
import { readHeader } from '../../media/probe/facts.ts';
import { declaredDuration } from '../../media/probe/packets.ts';
import type { EngineUse, Subtitle, Work } from '../../media/work.ts';
import { enterStage, shareProgress } from '../../media/work.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { sameLanguage } from '../../protocol/languages.ts';
import type { VoiceMode } from '../backend.ts';
import type { StepEngines } from '../choose.ts';
import type { Products, Tasks } from '../engine.ts';
import type { Separation } from '../separate/separate.ts';
import { useOfBackground } from '../separate/separate.ts';
import { recognizeOnce, separateOnce, speakOnce, translateOnce } from './steps.ts';

type Task = Tasks['auto_localization'];

/**
 * The end of each step as a share of the total time, for a copied and for an encoded picture. Measured on videos of
 * half a minute to a quarter of an hour; the encoded ones in 1080p.
 */
const COPYING = { separating: 0.19, recognizing: 0.86, translating: 0.87, dubbing: 0.88 } as const;
const ENCODING = { separating: 0.05, recognizing: 0.36, translating: 0.37, dubbing: 0.38 } as const;

/** Localizes a video. @throws JobFailure, ProgramMissing, ChildFailure */
export async function localizeVideo(
  engines: StepEngines,
  task: Task,
  work: Work,
): Promise<Products['auto_localization']> {
  const ends = task.subtitleOutput === 'burned' || task.resolution !== 'source' ? ENCODING : COPYING;
  const separating = enterStage(work, 0, ends.separating, 'separating');
  const separation = await separateOnce(engines, task.video, separating);
  const recognizing = enterStage(work, ends.separating, ends.recognizing, 'recognizing');
  const { subtitle: source, use: recognizer } = await recognizeOnce(
    engines,
    separation,
    task.sourceLanguage,
    recognizing,
  );
  if (sameLanguage(source.language, task.targetLanguage)) {
    const message = `the speech is already in "${source.language}", which is the target language; choose another`;
    throw new JobFailure('LANGUAGE_NOT_SUPPORTED', message);
  }
  const { mode, originalAudio, video, resolution } = task;
  const { background } = separation;
  const voiceMode = await chooseVoiceMode(task, separation, work);
  // Translating and speaking wait for short programs, so that a core is free.
  const [{ subtitle, translator, dub }, prepared] = await runTogether<
    [TranslatedAndSpoken, PreparedExport | undefined]
  >(work.signal, [
    (signal) => translateAndSpeak(engines, { ...task, voiceMode }, source, ends, { ...work, signal }),
    async (signal) =>
      mode === 'standard'
        ? prepareExport(engines.programs, video, { originalAudio, background }, { ...work, signal })
        : undefined,
  ]);
  const sound: ExportAudio =
    dub === null ? { type: 'original' } : { type: 'dubbed', dub: dub.path, background, originalAudio };
  const isHeard = dub !== null && originalAudio === 'background';
  const separated = isHeard ? useOfBackground(separation) : separation.use;
  const exporting = enterStage(work, ends.dubbing, 1, 'exporting');
  const used = [separated, recognizer, translator, ...(dub === null ? [] : [dub.use])];
  const { atMs } = work;
  const { path, uses } = await exportVideo(
    engines.programs,
    {
      ...{ video, sound, subtitle, resolution, subtitleOutput: subtitleOutput(task) },
      ...(prepared === undefined ? {} : { prepared }),
      mark:
        atMs === undefined
          ? undefined
          : { isSpoken: dub !== null, from: source.language, to: [task.targetLanguage], engines: used, atMs },
    },
    exporting,
  );
  return {
    video: { path, contentType: 'video/mp4' },
    durationSeconds: declaredDuration(await readHeader(engines.programs, path, work)),
    engines: [...used, ...uses],
    fits: dub?.fits ?? [],
  };
}

/** Below this median pitch in Hz a speaker is a man (in 14 of 14 recordings). Above it, pitch alone does not tell. */
const SURELY_MALE = 130;

/** Replaces `auto` by the voice of a man where one speaks. */
async function chooseVoiceMode(
  { mode, voiceMode }: Task,
  { voice, segments }: Separation,
  { signal }: Work,
): Promise<VoiceMode> {
  if (mode !== 'standard' || voiceMode !== 'auto' || voice === null) return voiceMode;
  const pitch = await medianPitch(voice, segments, signal);
  return pitch !== null && pitch < SURELY_MALE ? 'male' : voiceMode;
}

interface TranslatedAndSpoken {
  readonly subtitle: Subtitle;
  readonly translator: EngineUse;
  /** Null if nothing is spoken. */
  readonly dub: Awaited<ReturnType<typeof speakOnce>> | null;
}

async function translateAndSpeak(
  engines: StepEngines,
  task: Task,
  source: Subtitle,
  ends: typeof COPYING | typeof ENCODING,
  work: Work,
): Promise<TranslatedAndSpoken> {
  const translating = enterStage(work, ends.recognizing, ends.translating, 'translating');
  const languages = { sourceLanguage: source.language, targetLanguage: task.targetLanguage };
  const { subtitle, use: translator } = await translateOnce(
    engines,
    { lines: source.lines, ...languages },
    translating,
  );
  // The text is known now, and the dub, which may cost money, is not made yet.
  const request = { ...task, video: null };
  await checkExport(engines.programs, request, subtitle.lines, work);
  const dubbing = enterStage(work, ends.translating, ends.dubbing, 'dubbing');
  const { targetLanguage, voiceMode } = task;
  const videoSeconds = declaredDuration(await readHeader(engines.programs, task.video, work));
  const speech = { lines: subtitle.lines, targetLanguage, voiceMode, videoSeconds };
  const dub = task.mode === 'standard' ? await speakOnce(engines, speech, dubbing) : null;
  return { subtitle, translator, dub };
}

/** Without any output the subtitles would be lost, so they become a track. */
function subtitleOutput(task: Task): Task['subtitleOutput'] {
  return task.mode === 'subtitles_only' && task.subtitleOutput === 'none' ? 'soft' : task.subtitleOutput;
}

/** Splits the sound of a video into voice and background. @throws JobFailure, ProgramMissing, ChildFailure */
export async function separateAudio(
  engines: StepEngines,
  task: Tasks['audio_separation'],
  work: Work,
): Promise<Products['audio_separation']> {
  const separation = await separateOnce(engines, task.video, work);
  return {
    engines: [useOfBackground(separation)],
    fits: [],
    vocalAudio: { path: separation.vocals, contentType: 'audio/wav' },
    backgroundAudio: { path: separation.background, contentType: 'audio/wav' },
  };
}

/** Measured share of the time for separation. */
const SEPARATION_SHARE = 0.35;

/** Recognizes the speech of a video. @throws JobFailure, ProgramMissing, ChildFailure */
export async function recognizeSubtitle(
  engines: StepEngines,
  task: Tasks['subtitle_recognition'],
  work: Work,
): Promise<Products['subtitle_recognition']> {
  const separation = await separateOnce(engines, task.video, shareProgress(work, 0, SEPARATION_SHARE));
  const recognizing = shareProgress(work, SEPARATION_SHARE, 1);
  const { subtitle, use } = await recognizeOnce(engines, separation, task.sourceLanguage, recognizing);
  return { subtitle, engines: [separation.use, use], fits: [] };
}

/** Translates subtitles. @throws JobFailure, ProgramMissing, ChildFailure */
export async function translateSubtitle(
  engines: StepEngines,
  task: Tasks['subtitle_translation'],
  work: Work,
): Promise<Products['subtitle_translation']> {
  const { subtitle, use } = await translateOnce(engines, task, work);
  return { subtitle, engines: [use], fits: [] };
}

/** Speaks subtitles. @throws JobFailure, ProgramMissing, ChildFailure */
export async function dubSubtitle(
  engines: StepEngines,
  task: Tasks['dubbing'],
  work: Work,
): Promise<Products['dubbing']> {
  const { path, durationSeconds, use, fits } = await speakOnce(engines, task, work);
  return { audio: { path, contentType: 'audio/wav' }, durationSeconds, engines: [use], fits };
}
