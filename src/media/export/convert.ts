/** Converts a video to a format that the service accepts: plans the changes from its header, then runs ffmpeg. */

import { join, parse } from 'node:path';
import { languageName } from '../../protocol/language-tag.ts';
import { mixUnplaced } from '../audio/mix-down.ts';
import {
  aacArguments,
  copyPicture,
  coverArguments,
  DEINTERLACE,
  encodePicture,
  keepTags,
  MP4_SOUND,
  ON_TIME,
} from '../encode/encoders.ts';
import { copyOptions } from '../encode/picture.ts';
import {
  type Fraction,
  formatFraction,
  MP4_CODECS,
  type TrackFacts,
  type VideoFacts,
} from '../probe/facts.ts';
import { soundFormatOf, soundSeconds } from '../probe/sound.ts';
import {
  convertibleInput,
  ENCODER_LIMITS,
  FEW_ERRORS,
  fileAddress,
  QUIET,
  trackProgress,
} from '../programs/arguments.ts';
import { explainFailures, type PreparationCode } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { Work } from '../work.ts';

export type ConversionPlan =
  /** The file can be sent unchanged. */
  | { readonly type: 'none'; readonly track: TrackFacts; readonly reasons: readonly string[] }
  | {
      readonly type: 'convert';
      /** `still`: a black one, for sound. */
      readonly picture: 'copy' | 'encode' | 'still';
      readonly sound: 'copy' | 'encode';
      /** The only audio track of the result. */
      readonly track: TrackFacts;
      /** The service accepts the container; the conversion is needed only to select the track or to cut the video. */
      readonly isTaken: boolean;
      /** Gives the picture one constant frame rate. Only possible when the picture is encoded. */
      readonly makeConstant: boolean;
      /** The reasons, one sentence each, without the final period. */
      readonly reasons: readonly string[];
    }
  | {
      readonly type: 'impossible';
      readonly code: PreparationCode;
      readonly message: string;
      readonly advice: string;
    };

export interface ConversionOptions {
  /** Counts from 1, like `--audio-track`. Default: the default track of the file, else the first one. */
  readonly audioTrack?: number;
  /** Cutting and joining need one constant frame rate. Other videos only lose quality when their rate is changed. */
  readonly willBeSplit?: boolean;
  /** The result of `readTimeline`, if it was called. The header alone does not prove that the rate is constant. */
  readonly isConstant?: boolean;
  /** Only the beginning of the video is needed, at most so many seconds: it is written as a file of its own. */
  readonly firstSeconds?: number;
}

/** Demuxers of the containers that the service accepts. Source: specification, "video formats". */
const TAKEN = /^(mov|avi|mpeg|mpegvideo)\b/;
/** Containers whose time stamps are good enough to copy their streams into MP4. */
const COPYABLE_FROM = /mov|matroska|mpegts|flv/;
/** The same for sound alone. */
const SOUND_COPYABLE_FROM = /mov|matroska|mpegts|flv|^mp3|^aac/;

/** Whether sound of a file can be copied into an MP4. */
export function canCopySound({ demuxer }: Pick<VideoFacts, 'demuxer'>, codec: string): boolean {
  return SOUND_COPYABLE_FROM.test(demuxer) && MP4_SOUND.has(codec);
}

/** Returns the codec of a picture that an export cannot copy into an MP4; null if it can. */
export function uncopiedCodec({ demuxer, picture }: VideoFacts): string | null {
  return picture === null || copyOptions(demuxer, picture) !== null ? null : picture.codec;
}

/** Decides what to do: send unchanged, change the container, the codecs or the track, or refuse. */
export function planConversion(facts: VideoFacts, options: ConversionOptions = {}): ConversionPlan {
  const refused = refuse(facts, options.audioTrack);
  if (refused !== null) return refused;
  const chosen = chooseTrack(facts.tracks, options.audioTrack);
  const { picture } = facts;
  if (chosen === null) throw new Error('refused before: no such track');
  const { track } = chosen;
  if (picture === null) return planStill(facts, track, options, chosen.reasons);
  const isTaken = TAKEN.test(facts.demuxer);
  const varies = options.isConstant === undefined ? picture.mayVary : !options.isConstant;
  const mustBeConstant = varies && options.willBeSplit === true;
  const reasons = [
    ...(isTaken ? [] : [`the service does not accept ${nameOf(facts.demuxer)} files`]),
    ...(mustBeConstant ? ['a video with a variable frame rate cannot be cut and joined exactly'] : []),
    ...(options.firstSeconds === undefined ? [] : [describeSample(options.firstSeconds)]),
    ...chosen.reasons,
  ];
  // The service uses the first audio track of the file.
  const isWhole = options.firstSeconds === undefined;
  if (isTaken && isWhole && !mustBeConstant && track.number === 1) return { type: 'none', track, reasons };
  const canCopy = COPYABLE_FROM.test(facts.demuxer);
  const copiesPicture = canCopy && MP4_CODECS.has(picture.codec) && !mustBeConstant;
  const copiesSound = canCopySound(facts, track.codec);
  if (!copiesPicture && !mustBeConstant)
    reasons.push(
      `${picture.codec} pictures are encoded as ${picture.hdr === null && !picture.isDeep ? 'H.264' : 'HEVC'}`,
    );
  if (!copiesSound) reasons.push(`${track.codec} sound is encoded as AAC`);
  return {
    type: 'convert',
    picture: copiesPicture ? 'copy' : 'encode',
    sound: copiesSound ? 'copy' : 'encode',
    track,
    isTaken,
    makeConstant: !copiesPicture && varies,
    reasons,
  };
}

/** Sound alone gets a picture, since the service accepts only videos. */
function planStill(
  facts: VideoFacts,
  track: TrackFacts,
  { firstSeconds }: ConversionOptions,
  chosen: readonly string[],
): ConversionPlan {
  const sound = canCopySound(facts, track.codec) ? 'copy' : 'encode';
  const reasons = [
    'the service accepts only videos',
    ...(firstSeconds === undefined ? [] : [describeSample(firstSeconds)]),
    ...chosen,
    ...(sound === 'copy' ? [] : [`${track.codec} sound is encoded as AAC`]),
  ];
  return { type: 'convert', picture: 'still', sound, track, isTaken: false, makeConstant: false, reasons };
}

function describeSample(seconds: number): string {
  return `only the first ${seconds} s are sent, cut at a pause`;
}

function refuse(facts: VideoFacts, wanted: number | undefined): ConversionPlan | null {
  const impossible = (code: PreparationCode, message: string, advice: string): ConversionPlan => ({
    type: 'impossible',
    code,
    message,
    advice,
  });
  if (facts.picture === null && soundFormatOf(facts) === null) {
    const message = `the file has only sound, in ${nameOf(facts.demuxer)} with ${facts.tracks[0]?.codec ?? 'none'}`;
    return impossible('MEDIA_UNSUPPORTED', message, 'give it as MP3, M4A, WAV, FLAC, Ogg or Opus');
  }
  if (facts.tracks.length === 0) {
    const advice =
      'there is nothing to recognize, separate or dub over: export the video with its sound, or translate subtitles that you have with vloc translate';
    return impossible('NO_AUDIO_STREAM', 'the video has no audio track', advice);
  }
  if (wanted !== undefined && facts.tracks[wanted - 1] === undefined) {
    const message = `there is no audio track ${wanted}: the video has ${facts.tracks.length}`;
    return impossible(
      'NO_SUCH_TRACK',
      message,
      `choose one of: ${facts.tracks.map(describeTrack).join('; ')}`,
    );
  }
  return null;
}

function chooseTrack(tracks: readonly TrackFacts[], wanted: number | undefined) {
  const preferred = tracks.find((candidate) => candidate.isDefault) ?? tracks[0];
  const track = wanted === undefined ? preferred : tracks[wanted - 1];
  if (track === undefined) return null;
  if (tracks.length === 1) return { track, reasons: [] };
  const { length: count } = tracks;
  const choice = track.isDefault ? 'the default' : 'the first';
  const why = wanted === undefined ? `${choice} of ${count}` : 'as requested';
  const others = tracks.filter((other) => other !== track).map(describeTrack);
  const said = `audio track ${describeTrack(track)} is used, ${why}; --audio-track N chooses another: ${others.join('; ')}`;
  return { track, reasons: [said] };
}

/** For example `2 (Spanish, "Commentary", aac)`. The title is untrusted text. */
export function describeTrack(track: TrackFacts): string {
  const language = track.language === null ? null : languageName(track.language);
  const title = track.title === null ? null : `"${track.title.slice(0, 40)}"`;
  const known = [language, title, track.codec].filter((part) => part !== null);
  return `${track.number} (${known.join(', ')})`;
}

/** The common name of the container. */
function nameOf(demuxer: string): string {
  const names: Record<string, string> = {
    'matroska,webm': 'MKV and WebM',
    mpegts: 'TS',
    flv: 'FLV',
    asf: 'WMV',
  };
  return names[demuxer] ?? demuxer.toUpperCase();
}

/** Rates that cameras and players use, in frames per second. */
const COMMON_RATES: readonly Fraction[] = [
  { num: 24000, den: 1001 },
  { num: 24, den: 1 },
  { num: 25, den: 1 },
  { num: 30000, den: 1001 },
  { num: 30, den: 1 },
  { num: 50, den: 1 },
  { num: 60000, den: 1001 },
  { num: 60, den: 1 },
];

/**
 * Writes an MP4 into the work folder, with the original's name without its extension, and returns its path. For a plan
 * of type `none`, returns the path of the original.
 * @param endSeconds where the result ends, from the start of the file; null for all of it
 * @throws PreparationFailure if ffmpeg cannot convert the file
 */
export async function convertVideo(
  programs: Programs,
  file: string,
  facts: VideoFacts,
  plan: Extract<ConversionPlan, { type: 'none' | 'convert' }>,
  work: Work,
  endSeconds: number | null = null,
): Promise<string> {
  if (plan.type === 'none') return file;
  const path = join(work.folder, `${parse(file).name}.mp4`);
  const isStill = plan.picture === 'still';
  const seconds =
    endSeconds ?? (isStill ? await soundSeconds(programs, file, facts, work) : facts.durationSeconds);
  const picture = isStill ? '1:v:0' : `0:${facts.picture?.index}`;
  const args = [
    ...[...QUIET, ...FEW_ERRORS, '-progress', 'pipe:1'],
    ...convertibleInput(file),
    ...(isStill ? stillInput(seconds ?? 0) : []),
    ...['-map', picture, '-map', `0:${plan.track.index}`],
    ...pictureArguments(facts, plan),
    ...(plan.sound === 'copy'
      ? ['-c:a', 'copy']
      : ['-af', [ON_TIME, ...mixUnplaced(plan.track)].join(','), ...aacArguments(plan.track.channels)]),
    ...(isStill ? ['-map_metadata', '-1', '-map_chapters', '-1'] : [...coverArguments(facts), ...keepTags()]),
    ...(endSeconds === null ? [] : ['-t', String(endSeconds)]),
    ...['-disposition:a:0', 'default', '-movflags', '+faststart', '-f', 'mp4', fileAddress(path)],
  ];
  const onLine = trackProgress(seconds ?? 0, work.report);
  await explainFailures('the video cannot be converted', () =>
    programs.run('ffmpeg', args, { ...work, onLine, limits: ENCODER_LIMITS }),
  );
  return path;
}

/** Cuts of a long file are between frames, so at pauses of a tenth of a second. */
const STILL_RATE = 10;
/** The smallest that hosted services and players surely take. A minute has about 30 kB. */
const STILL_SIZE = '320x180';
/** Bytes of a second of it, measured. */
const STILL_BYTES = 500;
/** Bytes of a second of sound that is encoded, see `aacArguments`. */
const AAC_BYTES = 256_000 / 8;

/** A black picture, never longer than the sound, so that it adds no started minute. */
function stillInput(seconds: number): string[] {
  const frames = Math.max(1, Math.floor(seconds * STILL_RATE));
  return ['-f', 'lavfi', '-i', `color=c=black:s=${STILL_SIZE}:r=${STILL_RATE}:d=${frames / STILL_RATE}`];
}

/** The bytes that sound has in a still MP4, about. */
export function stillBytes(
  { bytes }: Pick<VideoFacts, 'bytes'>,
  { sound }: { readonly sound: 'copy' | 'encode' },
  seconds: number,
): number {
  return Math.round(seconds * STILL_BYTES + (sound === 'copy' ? bytes : seconds * AAC_BYTES));
}

function pictureArguments(facts: VideoFacts, plan: Extract<ConversionPlan, { type: 'convert' }>): string[] {
  if (plan.picture === 'copy') return copyPicture(facts.picture?.codec ?? '');
  if (plan.picture === 'still') return encodePicture(null);
  const rate = formatFraction(constantRate(facts.picture?.frameRate ?? null));
  const filters = [DEINTERLACE, ...(plan.makeConstant ? [`fps=${rate}`] : []), EVEN_SIDES];
  return ['-filter:v:0', filters.join(','), ...encodePicture(facts.picture)];
}

/** The encoder halves the colour resolution in both directions, so odd widths and heights lose one row or column. */
const EVEN_SIDES = 'scale=trunc(iw/2)*2:trunc(ih/2)*2';

/** 29.97 and 30 differ by a thousandth. A measured mean differs slightly from its nominal rate. */
const SAME_SHARE = 0.0005;

/**
 * Returns the lowest common rate that shows all frames of a video with this mean rate: 60 at most, 30 if the rate is
 * unknown.
 */
export function constantRate(mean: Fraction | null): Fraction {
  const value = mean === null ? 30 : mean.num / mean.den;
  const exact = COMMON_RATES.find((rate) => Math.abs(rate.num / rate.den / value - 1) < SAME_SHARE);
  const enough = exact ?? COMMON_RATES.find((rate) => rate.num / rate.den > value);
  return enough ?? { num: 60, den: 1 };
}
