/** Exports picture, sound and subtitles into one MP4. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { JobFailure } from '../../protocol/job-failure.ts';
import { baseLanguage, canonicalLanguage } from '../../protocol/language-tag.ts';
import { formatSrt } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { audibleSeconds } from '../audio/audible.ts';
import { LIMITER } from '../audio/limiter.ts';
import { type Channels, mixUnplaced } from '../audio/mix-down.ts';
import {
  coverArguments,
  DEINTERLACE,
  encoderArguments,
  keepTags,
  MP4_SOUND,
  ON_TIME,
  SAME_TIMES,
} from '../encode/encoders.ts';
import {
  type EncodedPicture,
  mostThreads,
  type PicturePlan,
  planPicture,
  readMastering,
  whiteOf,
} from '../encode/picture.ts';
import { type MediaHeader, readFacts, readHeader } from '../probe/facts.ts';
import { declaredDuration, requireComplete } from '../probe/packets.ts';
import {
  ENCODER_LIMITS,
  fileAddress,
  ownInput,
  QUIET,
  trackProgress,
  untrustedInput,
} from '../programs/arguments.ts';
import { ChildFailure, explainFailures, PreparationFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import { joinSource } from '../subtitles/bilingual.ts';
import type { Look } from '../subtitles/look.ts';
import { readSoftSubtitles } from '../subtitles/read-subtitle.ts';
import { stripMarkup } from '../subtitles/text.ts';
import { formatAss } from '../subtitles/write.ts';
import type {
  EngineRun,
  EngineUse,
  ExportRequest,
  OriginalAudio,
  Resolution,
  Subtitle,
  SubtitleOutput,
  Work,
} from '../work.ts';
import {
  balanceSound,
  DUCKING,
  type MixGains,
  measureOriginal,
  type Original,
  type OriginalSounds,
} from './balance.ts';
import { convertVideo, planConversion } from './convert.ts';
import { findBoxes, requireFamily, requireFont } from './fonts.ts';
import { commentTags, type MarkFacts, readComment } from './mark.ts';

/** The sound of the video: the original, or a dub mixed with it or its background. */
export type ExportAudio =
  | { readonly type: 'original' }
  | {
      readonly type: 'dubbed';
      readonly dub: string;
      readonly background: string;
      readonly originalAudio: OriginalAudio;
    };

export interface ExportTask {
  readonly video: string;
  readonly sound: ExportAudio;
  readonly subtitle: Subtitle;
  readonly subtitleOutput: SubtitleOutput;
  readonly resolution: Resolution;
  /** Its sound is encoded again, so it is written without loss. */
  readonly isLossless?: boolean | undefined;
  /** How burned subtitles look; default: plain. */
  readonly look?: Look | undefined;
  /** What a tag says of it; default: nothing. */
  readonly mark?: MarkFacts | undefined;
  /** Facts that were read before the dub was made; default: they are read now. */
  readonly prepared?: PreparedExport;
}

/** Facts about a video that an export reads before it needs the dub. */
export interface PreparedExport {
  readonly header: MediaHeader;
  readonly original: OriginalSounds;
}

/** The default coder of ffmpeg 5.1 adds peaks of up to 4 dB to loud music; this one does not, and takes half the time. */
const AAC = ['-c:a', 'aac', '-aac_coder', 'fast', '-b:a', '160k'];
const LOSSLESS = ['-c:a', 'alac'];
/** In the work folder, which is ffmpeg's working folder, so that no filter must quote a path. */
const BURNED_FILE = 'burned.ass';
const SOFT_FILE = 'soft.srt';

/**
 * Writes the finished MP4, as long as its input, into the work folder. Copies the picture if nothing in it changes, so
 * that its frames equal those of the original.
 * @throws JobFailure MEDIA_UNSUPPORTED for a picture that is too large to be encoded here
 */
export async function exportVideo(
  programs: Programs,
  task: ExportTask,
  work: Work,
): Promise<{ path: string; uses: readonly EngineUse[] }> {
  const header = task.prepared?.header ?? (await readHeader(programs, task.video, work));
  const duration = declaredDuration(header);
  const burned = task.subtitleOutput === 'burned';
  const picture = planPicture(header, task.resolution, burned);
  const isHdr10 = !picture.copy && picture.hdr === 'smpte2084';
  const mastering = isHdr10 ? await readMastering(programs, task.video, work) : '';
  const encoding = pictureArguments(picture, { burned, mastering }, programs);
  if (burned && !picture.copy) {
    await writeFile(join(work.folder, BURNED_FILE), formatBurned(picture, task.subtitle, task.look));
  }
  const lines = task.subtitleOutput === 'soft' ? softLines(textsOf(task.subtitle), duration) : [];
  const soft = lines.length > 0;
  if (soft) await writeFile(join(work.folder, SOFT_FILE), formatSrt(lines));
  const path = join(work.folder, 'localized.mp4');
  const copySound = MP4_SOUND.has(header.audio?.codec_name ?? '') && header.demuxer.includes('mov');
  const sound = await soundArguments(programs, task, { header, duration, copySound }, work);
  const { mark } = task;
  const marked =
    mark === undefined ? [] : commentTags(mark, (await readComment(programs, task.video, work)) ?? '');
  const args = [
    ...QUIET,
    ...['-progress', 'pipe:1'],
    ...untrustedInput(task.video, encoding.input),
    ...sound.inputs,
    ...(soft ? ownInput(join(work.folder, SOFT_FILE), 'srt') : []),
    ...encoding.output,
    ...sound.output,
    ...(soft ? subtitleArguments(1 + sound.inputCount, task.subtitle.language) : []),
    ...coverArguments(header),
    ...keepTags(),
    ...marked,
    ...['-movflags', '+faststart', '-f', 'mp4', fileAddress(path)],
  ];
  const onLine = trackProgress(duration, work.report);
  await programs.run('ffmpeg', args, { ...work, onLine, limits: ENCODER_LIMITS }).catch((error: unknown) => {
    throw isOutOfMemory(error) ? exportTooLargeFailure(error) : error;
  });
  const isUnasked = !picture.copy && !burned && task.resolution === 'source';
  const unshown = burned ? await findBoxes(programs, task.subtitle, work) : [];
  const use: EngineUse = { step: 'export', engine: 'ffmpeg', skipped: [] };
  const mixed = header.audio?.channels ?? 0;
  return {
    path,
    uses: [
      ...(unshown.length > 0 ? [{ ...use, unshown }] : isUnasked ? [use] : []),
      ...(task.sound.type === 'dubbed' && mixed > 2 ? [{ ...use, mixed }] : []),
    ],
  };
}

/** The subtitles as they are burned into a picture. */
export function formatBurned(
  picture: EncodedPicture,
  { language, lines, second }: Subtitle,
  look: Look | undefined,
): string {
  const { size, pixelAspect } = picture;
  return formatAss(lines, size, { language, white: whiteOf(picture), pixelAspect, look }, second);
}

function textsOf({ lines, second }: Subtitle): readonly SubtitleLine[] {
  return second === undefined ? lines : joinSource(lines, second.place);
}

/** Does what is possible before the dub is made: reads the header of the video, and measures its sound. */
export async function prepareExport(
  programs: Programs,
  video: string,
  sound: RestOfSound,
  run: EngineRun,
): Promise<PreparedExport> {
  const header = await readHeader(programs, video, run);
  return { header, original: await measureOriginal(programs, originalOf(video, header, sound), run) };
}

type RestOfSound = Pick<Original, 'originalAudio' | 'background'>;

function originalOf(
  video: string,
  header: MediaHeader,
  { originalAudio, background }: RestOfSound,
): Original {
  return { video, audio: header.audio, originalAudio, background };
}

/** How x264, x265 and ffmpeg report it. */
const OUT_OF_MEMORY = /malloc of size \d+ failed|cannot allocate memory/i;

function isOutOfMemory(error: unknown): error is ChildFailure {
  return error instanceof ChildFailure && OUT_OF_MEMORY.test(error.lastWords);
}

/** Another attempt would fail in the same way. */
function exportTooLargeFailure(cause: ChildFailure): JobFailure {
  const message =
    'encoding the picture needs more memory than an export may use here; choose a lower resolution, or leave the picture as it is: without burned subtitles and with the resolution of the source';
  return new JobFailure('MEDIA_UNSUPPORTED', message, { cause });
}

/** A text that is burned in too; its lines are null if they are not known yet. */
interface KnownText {
  readonly language: string;
  readonly lines: readonly SubtitleLine[] | null;
}

/**
 * Checks before all other work that a video can be exported.
 * @param lines of the subtitles; null if they are not known yet
 * @throws JobFailure LANGUAGE_NOT_SUPPORTED without a font for burned subtitles, or without that of their look; MEDIA_UNSUPPORTED for a picture that ffmpeg
 * cannot encode
 */
export async function checkExport(
  programs: Programs,
  request: ExportRequest & { readonly look?: Look | undefined; readonly source?: KnownText | undefined },
  lines: readonly SubtitleLine[] | null,
  run: EngineRun,
): Promise<void> {
  const { video, resolution, targetLanguage: language, look, source } = request;
  const burned = request.subtitleOutput === 'burned';
  if (burned) await requireFont(programs, { language, lines }, run);
  if (burned && source !== undefined) await requireFont(programs, source, run);
  if (burned && look?.font !== undefined) await requireFamily(programs, look.font, run);
  if (video === null) return;
  const header = await readHeader(programs, video, run);
  planPicture(header, resolution, burned);
}

async function soundArguments(
  programs: Programs,
  task: ExportTask,
  video: { header: MediaHeader; duration: number; copySound: boolean },
  work: Work,
) {
  const { sound } = task;
  const { header } = video;
  if (sound.type === 'original') {
    const mixing = header.audio === null ? [] : mixUnplaced(header.audio);
    const codec = video.copySound
      ? ['-c:a', 'copy']
      : [...AAC, ...(mixing.length > 0 ? ['-filter:a:0', mixing.join(',')] : [])];
    return { inputs: [], inputCount: 0, output: ['-map', '0:a:0', ...codec] };
  }
  const { originalAudio } = sound;
  const withBackground = originalAudio === 'background';
  const inputs = [
    ...ownInput(sound.dub, 'wav'),
    ...(withBackground ? ownInput(sound.background, 'wav') : []),
  ];
  const rest = { background: '2:a', duck: '0:a:0', mute: null }[originalAudio];
  const graph = (gains: MixGains) =>
    soundGraph(originalAudio, { original: rest, audio: header.audio, dub: '1:a' }, gains, video.duration);
  const original =
    task.prepared?.original ?? (await measureOriginal(programs, originalOf(task.video, header, sound), work));
  const balancing = { video: task.video, originalAudio, original, dub: sound.dub, inputs, graph };
  const gains = await balanceSound(programs, balancing, work);
  const language = threeLetterCode(task.subtitle.language);
  return {
    inputs,
    inputCount: withBackground ? 2 : 1,
    output: [
      ...['-filter_complex', graph(gains), '-map', '[sound]'],
      ...[...(task.isLossless ? LOSSLESS : AAC), '-ar', '48000'],
      ...['-metadata:s:a:0', `language=${language}`],
    ],
  };
}

function pictureArguments(
  picture: PicturePlan,
  { burned, mastering }: { readonly burned: boolean; readonly mastering: string },
  { parallel }: Pick<Programs, 'parallel'>,
) {
  if (picture.copy) {
    return { input: picture.input, output: ['-map', '0:V:0', '-c:v', 'copy', ...picture.output] };
  }
  const threads = Math.min(parallel, mostThreads(picture));
  const { width, height } = picture.size;
  const filters = [
    DEINTERLACE,
    `scale=${width}:${height}`,
    ...(burned ? [`ass=filename=${BURNED_FILE}`] : []),
  ];
  return {
    input: ['-threads', String(threads)],
    output: [
      ...['-map', '0:V:0', '-filter:v:0', filters.join(','), ...SAME_TIMES],
      ...encoderArguments(picture, threads, mastering),
    ],
  };
}

function subtitleArguments(input: number, language: string): string[] {
  const code = threeLetterCode(language);
  const shown = ['-disposition:s:0', 'default'];
  return ['-map', `${input}:s:0`, '-c:s', 'mov_text', '-metadata:s:s:0', `language=${code}`, ...shown];
}

/** Maps two-letter languages of BCP 47 to their three-letter codes of ISO 639-2/T. Source: Library of Congress. */
const THREE_LETTERS = new Map(
  [
    'af:afr am:amh an:arg ar:ara as:asm az:aze ba:bak be:bel bg:bul bn:ben br:bre bs:bos ca:cat cs:ces cv:chv cy:cym',
    'da:dan de:deu el:ell en:eng eo:epo es:spa et:est eu:eus fa:fas fi:fin fo:fao fr:fra fy:fry ga:gle gd:gla gl:glg',
    'gn:grn gu:guj he:heb hi:hin hr:hrv ht:hat hu:hun hy:hye ia:ina id:ind io:ido is:isl it:ita ja:jpn ka:kat kk:kaz',
    'kl:kal kn:kan ko:kor ku:kur ky:kir la:lat lb:ltz lt:lit lv:lav mi:mri mk:mkd ml:mal mr:mar ms:msa mt:mlt my:mya',
    'nb:nob ne:nep nl:nld nn:nno no:nor oc:oci om:orm or:ori pa:pan pl:pol pt:por qu:que ro:ron ru:rus sc:srd sd:snd',
    'si:sin sk:slk sl:slv sq:sqi sr:srp sv:swe sw:swa ta:tam te:tel tg:tgk th:tha tk:tuk tn:tsn tr:tur tt:tat ug:uig',
    'uk:ukr ur:urd uz:uzb vi:vie wa:wln zh:zho',
  ]
    .join(' ')
    .split(' ')
    .map((pair): [string, string] => [pair.slice(0, 2), pair.slice(3)]),
);

/** Returns the ISO 639-2 code of a BCP 47 tag, which MP4 uses for languages; `und` (undetermined) if it has none. */
export function threeLetterCode(tag: string): string {
  const base = baseLanguage(canonicalLanguage(tag) ?? tag);
  if (/^[a-z]{3}$/.test(base)) return base;
  return THREE_LETTERS.get(base) ?? 'und';
}

/**
 * Returns the lines of a subtitle track, cut at the end of the video: a longer line would make the whole file longer.
 */
export function softLines(lines: readonly SubtitleLine[], videoSeconds: number): SubtitleLine[] {
  const endMs = Math.floor(videoSeconds * 1000);
  return lines
    .filter(({ start_ms }) => start_ms < endMs)
    .map((line) => ({ ...line, end_ms: Math.min(line.end_ms, endMs), text: stripMarkup(line.text) }));
}

/** Returns filters that convert the original to the format of the dub: two channels, 48 kHz, starting with the picture. */
function originalFilters(audio: Channels | null): string {
  const mixing = audio === null ? [] : mixUnplaced(audio);
  return [ON_TIME, ...mixing, 'aformat=channel_layouts=stereo'].join(',');
}

interface SoundInputs {
  /** Indexes of ffmpeg's inputs. `original` is the remaining sound of the video. */
  readonly original: string | null;
  /** The sound of the video. */
  readonly audio: Channels | null;
  readonly dub: string;
}

/** Mixes the dub (mono) with the background or with the ducked original (stereo) to exactly `seconds`, as `[sound]`. */
function soundGraph(mode: OriginalAudio, inputs: SoundInputs, gains: MixGains, seconds: number): string {
  const decibels = (gain: number) => `volume=${gain.toFixed(2)}dB`;
  const stereo = `[${inputs.dub}]pan=stereo|c0=c0|c1=c0`;
  const voice = `${stereo},${decibels(gains.dub)}`;
  const end = `${decibels(gains.mix)},${LIMITER},apad=whole_dur=${seconds},atrim=0:${seconds}[sound]`;
  const mix = 'amix=inputs=2:normalize=0:duration=longest';
  if (mode === 'mute' || inputs.original === null) return `${voice},${end}`;
  if (mode === 'background') return `${voice}[voice];[${inputs.original}][voice]${mix},${end}`;
  return [
    // Otherwise the first input to end would end both and lose the data in the compressor: seconds, if ffmpeg reads the
    // original far ahead of the dub because the picture is slow to encode. So both are padded without end.
    `${stereo},asplit[plain][short];[short]${decibels(gains.key)},apad[key];[plain]${decibels(gains.dub)}[voice]`,
    `[${inputs.original}]${originalFilters(inputs.audio)},apad[original];[original][key]${DUCKING}[low]`,
    `[low][voice]${mix},${end}`,
  ].join(';');
}

/** The files to combine. Paths are local files. */
export interface LocalizedParts {
  readonly video: string;
  /**
   * Number of the audio track, from 1, if the export must convert the video first; null if the video can be used
   * unchanged.
   */
  readonly track: number | null;
  /** Path of the dub, a WAV; null keeps the original sound. */
  readonly dub: string | null;
  /** Path of the background, a WAV from the separation; null if the original sound is lowered or muted. */
  readonly background: string | null;
  /** The subtitle in the target language. */
  readonly subtitle: Subtitle;
}

export type ExportOptions = Pick<
  ExportTask,
  'subtitleOutput' | 'resolution' | 'look' | 'mark' | 'isLossless'
> & {
  readonly originalAudio: OriginalAudio;
};

/**
 * Writes the MP4 into the work folder, in the same way as the service's own export: the picture is copied if nothing in
 * it changes, and the length is the length of the video.
 * @returns the path of the MP4, what was changed although nobody asked for it, and the speech that it lacks
 * @throws PreparationFailure
 * @throws JobFailure if the video cannot be read
 */
export function exportLocalized(
  programs: Programs,
  parts: LocalizedParts,
  options: ExportOptions,
  work: Work,
): Promise<{ readonly path: string; readonly uses: readonly EngineUse[]; readonly cut: CutSpeech | null }> {
  return explainFailures('the finished video cannot be written', async () => {
    const { subtitle } = parts;
    const { subtitleOutput, resolution, look, mark, isLossless } = options;
    const video = await makeReady(programs, parts, work);
    const sound = soundOf(parts, options);
    const how = { subtitleOutput, resolution, look, mark, isLossless };
    const task: ExportTask = { video, sound, subtitle, ...how };
    const exported = await exportVideo(programs, task, work);
    const { dub } = parts;
    if (dub === null) return { ...exported, cut: null };
    const seconds = declaredDuration(await readHeader(programs, exported.path, work));
    return { ...exported, cut: await findCutSpeech(dub, subtitle.lines, seconds) };
  });
}

/**
 * Burns the subtitle track of a finished video into its picture, in the same way.
 * @returns the path of the new video, in the work folder
 * @throws PreparationFailure
 */
export function burnTrack(
  programs: Programs,
  video: string,
  { look, language }: { readonly look: Look; readonly language: string },
  work: EngineRun,
): Promise<string> {
  return explainFailures('the subtitles cannot be burned in', async () => {
    const lines = await readSoftSubtitles(programs, video, work);
    const advice = 'choose --subtitle-output burned without --subtitle-style';
    if (lines.length === 0)
      throw new PreparationFailure(
        'NO_SUCH_TRACK',
        'the delivered video has no subtitles to burn in',
        advice,
      );
    const task: ExportTask = {
      ...{ video, sound: { type: 'original' }, subtitle: { language, lines } },
      ...{ subtitleOutput: 'burned', resolution: 'source', look },
    };
    return exportVideo(programs, task, { ...work, report: () => undefined }).then(
      ({ path }) => path,
      (error: unknown) => {
        if (!(error instanceof JobFailure)) throw error;
        throw new PreparationFailure('MEDIA_UNSUPPORTED', error.message, advice, { cause: error });
      },
    );
  });
}

/** Speech of a dub that a video lacks, because it ends before. */
export interface CutSpeech {
  /** Numbers of the cues. */
  readonly cues: readonly number[];
  readonly seconds: number;
}

/** Less is the padding of an encoder, or the end of a fading sound. */
const HEARD_SECONDS = 0.1;

async function findCutSpeech(
  dub: string,
  lines: readonly SubtitleLine[],
  endSeconds: number,
): Promise<CutSpeech | null> {
  const seconds = await audibleSeconds(dub, endSeconds);
  if (seconds < HEARD_SECONDS) return null;
  const after = lines.filter(({ start_ms }) => start_ms >= 1000 * endSeconds);
  const nextSeconds = Math.min(...after.map(({ start_ms }) => start_ms / 1000));
  const isCut = (await audibleSeconds(dub, endSeconds, nextSeconds)) >= HEARD_SECONDS;
  const spoken = lines.filter((line) => !after.includes(line)).slice(isCut ? -1 : lines.length);
  return { cues: [...spoken, ...after].map(({ index }) => index), seconds };
}

function soundOf({ dub, background }: LocalizedParts, { originalAudio }: ExportOptions): ExportAudio {
  if (dub === null) return { type: 'original' };
  if (originalAudio === 'background' && background === null) throw new Error('the background is missing');
  return { type: 'dubbed', dub, background: background ?? '', originalAudio };
}

/**
 * Returns the video in the form that the service received: the export reads the same containers and uses the first
 * audio track.
 */
async function makeReady(programs: Programs, { video, track }: LocalizedParts, work: Work): Promise<string> {
  if (track === null) return video;
  const facts = await readFacts(programs, video, work);
  const plan = planConversion(facts, { audioTrack: track });
  if (plan.type === 'impossible')
    throw new PreparationFailure('MEDIA_UNSUPPORTED', plan.message, plan.advice);
  await requireComplete(programs, video, facts, work);
  return convertVideo(programs, video, facts, plan, { ...work, report: () => undefined });
}
