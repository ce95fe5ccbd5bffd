/** Converts a stored request to the engine's task, and its products to the stored result, for each kind. */
import type { EngineProvenance, Engines, Products, Tasks } from '../../engines/engine.ts';
import type { CueFit, MediaFile, Work } from '../../media/work.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { NOTICED_SHIFT, type Provenance } from '../../protocol/provenance.ts';
import type { JobRequest } from '../../protocol/request-types.ts';
import { normalizeCueText } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { StoredResult } from './results.ts';
import { writeSubtitle } from './results.ts';

/** The local input of a job: a video's path, or the lines of a subtitle. */
export interface JobInputs {
  readonly video: string;
  readonly lines: readonly SubtitleLine[];
}

/** The output of a job before its files are moved. */
export interface JobOutputs {
  readonly products: Readonly<Record<string, MediaFile>>;
  readonly values: StoredResult['values'];
  /** Null if the engines do not report it. */
  readonly provenance: Provenance | null;
}

type Made = Omit<JobOutputs, 'provenance'>;

const TASKS: { readonly [K in JobKind]: (request: JobRequest<K>, material: JobInputs) => Tasks[K] } = {
  audio_separation: (_request, { video }) => ({ video }),
  subtitle_recognition: (request, { video }) => ({ video, sourceLanguage: request.source_language }),
  subtitle_translation: (request, { lines }) => ({
    lines,
    sourceLanguage: request.source_language,
    targetLanguage: request.target_language,
  }),
  dubbing: (request, { lines }) => ({
    lines,
    targetLanguage: request.target_language,
    voiceMode: request.voice_mode,
  }),
  auto_localization: (request, { video }) => ({
    video,
    sourceLanguage: request.source_language,
    targetLanguage: request.target_language,
    mode: request.mode,
    voiceMode: request.voice_mode,
    subtitleOutput: request.subtitle_output,
    originalAudio: request.original_audio,
    resolution: request.resolution,
  }),
};

const MADE: { readonly [K in JobKind]: (products: Products[K], workFolder: string) => Promise<Made> } = {
  audio_separation: async ({ vocalAudio, backgroundAudio }) => ({
    products: { vocal_audio: vocalAudio, background_audio: backgroundAudio },
    values: {},
  }),
  subtitle_recognition: ({ subtitle }, folder) => madeSubtitle(subtitle, folder),
  subtitle_translation: ({ subtitle }, folder) => madeSubtitle(subtitle, folder),
  dubbing: async ({ audio, durationSeconds }) => ({
    products: { audio },
    values: { duration_seconds: durationSeconds },
  }),
  auto_localization: async ({ video, durationSeconds }) => ({
    products: { video },
    values: { duration_seconds: durationSeconds },
  }),
};

async function madeSubtitle(
  subtitle: Products['subtitle_recognition']['subtitle'],
  folder: string,
): Promise<Made> {
  // In the form that a cue of SRT can have, so that the lines and the file have the same text.
  const lines = subtitle.lines.map((line) => ({ ...line, text: normalizeCueText(line.text) }));
  return {
    products: { subtitle: await writeSubtitle(folder, lines) },
    values: { language: subtitle.language, lines },
  };
}

/**
 * Checks that the finished video of a localization can be exported. A picture that is copied always can.
 * @param video null if it is not known yet
 * @throws JobFailure
 */
export async function checkJobExport(
  engines: Engines,
  request: JobRequest<'auto_localization'>,
  video: string | null,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const { target_language: targetLanguage, subtitle_output: subtitleOutput, resolution } = request;
  if (subtitleOutput !== 'burned' && resolution === 'source') return;
  await engines.checkExport?.({ video, targetLanguage, subtitleOutput, resolution }, signal);
}

/** Runs the engine of a kind for a request. */
export async function carryOut<K extends JobKind>(
  engines: Engines,
  kind: K,
  request: JobRequest<K>,
  material: JobInputs,
  work: Work,
): Promise<JobOutputs> {
  const products = await engines.run[kind](TASKS[kind](request, material), work);
  return { ...(await MADE[kind](products, work.folder)), provenance: provenanceOf(products) };
}

function provenanceOf({ engines = [], fits = [] }: EngineProvenance): Provenance | null {
  if (engines.length + fits.length === 0) return null;
  return {
    engines,
    cues: fits.flatMap(describeFit),
  };
}

/** One entry for all cues of a text, but for those whose words are far from their time. */
function describeFit({ cues, shifts, fit, speed, tempo, cutSeconds }: CueFit): Provenance['cues'] {
  const made = { speed: round(speed), tempo: round(tempo), cut_seconds: round(cutSeconds) };
  const isFar = (at: number) => fit !== 'cut' && Math.abs(shifts[at] ?? 0) > NOTICED_SHIFT;
  const near = cues.filter((_, at) => !isFar(at));
  const far = cues.flatMap((cue, at): Provenance['cues'] =>
    isFar(at)
      ? [{ cues: [cue], fit: fit === 'none' ? 'shift' : fit, ...made, shift_seconds: round(shifts[at] ?? 0) }]
      : [],
  );
  return fit === 'none' || near.length === 0 ? far : [{ cues: near, fit, ...made }, ...far];
}

/** To thousandths: a job may have hundreds of cues, and the difference is inaudible. */
function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
