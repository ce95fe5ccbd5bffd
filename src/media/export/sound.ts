/** Writes the sound of a finished video as a sound file, with the tags, the chapters and the cover of the file it was made from. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import type { SoundFormat } from '../../base/sound-formats.ts';
import { encodeAsLoud } from '../audio/normalize.ts';
import { aacArguments } from '../encode/encoders.ts';
import { readFacts, type VideoFacts } from '../probe/facts.ts';
import {
  convertibleInput,
  ENCODER_LIMITS,
  fileAddress,
  QUIET,
  untrustedInput,
} from '../programs/arguments.ts';
import { ChildFailure, explainFailures, PreparationFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun } from '../work.ts';
import { threeLetterCode } from './export.ts';
import { commentTags, type MarkFacts, readComment, readMark } from './mark.ts';

export interface SoundTask {
  /** The finished video, whose first sound is used. */
  readonly video: string;
  /** The sound file that it was made from, and the number of its track from 1; null for the sound of a video. */
  readonly source: { readonly path: string; readonly track: number } | null;
  readonly format: SoundFormat;
  /** In LUFS; as it is without. */
  readonly loudness?: number | undefined;
  /** BCP 47 tag. */
  readonly language: string;
  /** What a tag says of it, null to leave that out; undefined to leave tags as they are. */
  readonly mark?: MarkFacts | null | undefined;
}

interface Encoding {
  readonly muxer: readonly string[];
  /** Codecs that are copied, as ffprobe names them; none where the result is written without loss. */
  readonly copies?: string;
  readonly encode: (like: Like) => readonly string[];
  /** How the file has cover and chapters: as ffmpeg writes them, in Vorbis comments, or not at all. */
  readonly cover: 'stream' | 'comment' | 'none';
  readonly chapters: 'own' | 'comment' | 'none';
}

/** What the result is like: the source, or what is delivered where there is no source. */
interface Like {
  readonly channels: number;
  /** In Hz. */
  readonly rate: number;
  readonly isDeep: boolean;
  /** Bits per second, with cover and tags. */
  readonly bits: number;
}

/** The bit rate of the source, in steps that encoders take; less than the first is heard, and more than the last is not. */
function bitRate(bits: number, kilobits: readonly number[]): string[] {
  const rate = kilobits.find((each) => 1000 * each >= bits) ?? kilobits.at(-1);
  return ['-b:a', `${rate}k`];
}

/** The rates of MP3. */
const RATES = [128, 160, 192, 224, 256, 320];
/** libvorbis refuses more than 240 for one channel. Source: its lib/modes/setup_44u.h. */
const VORBIS_MONO_RATES = [128, 160, 192, 224];
/** Opus is transparent at 160. */
const OPUS_RATES = [96, 128, 160, 192, 256];

const like = ({ channels, rate }: Like) => ['-ac', String(channels), '-ar', String(rate)];

const ENCODINGS: Readonly<Record<SoundFormat, Encoding>> = {
  mp3: {
    muxer: ['mp3'],
    copies: 'mp3',
    encode: (each) => ['-c:a', 'libmp3lame', ...bitRate(each.bits, RATES), ...like(each)],
    cover: 'stream',
    chapters: 'own',
  },
  m4a: {
    muxer: ['ipod', '-movflags', '+faststart'],
    copies: 'aac',
    encode: ({ channels }) => aacArguments(channels),
    cover: 'stream',
    chapters: 'own',
  },
  aac: {
    muxer: ['adts', '-write_id3v2', '1'],
    copies: 'aac',
    encode: ({ channels }) => aacArguments(channels),
    cover: 'none',
    chapters: 'none',
  },
  wav: {
    muxer: ['wav', '-rf64', 'auto'],
    encode: (each) => ['-c:a', each.isDeep ? 'pcm_s24le' : 'pcm_s16le', ...like(each)],
    cover: 'none',
    chapters: 'none',
  },
  flac: {
    muxer: ['flac'],
    encode: (each) => ['-c:a', 'flac', '-sample_fmt', each.isDeep ? 's32' : 's16', ...like(each)],
    cover: 'stream',
    chapters: 'comment',
  },
  ogg: {
    muxer: ['ogg'],
    copies: 'vorbis',
    encode: (each) => {
      const rates = each.channels === 1 ? VORBIS_MONO_RATES : RATES;
      return ['-c:a', 'libvorbis', ...bitRate(each.bits, rates), ...like(each)];
    },
    cover: 'comment',
    chapters: 'comment',
  },
  opus: {
    muxer: ['opus'],
    copies: 'opus',
    encode: (each) => [
      '-c:a',
      'libopus',
      ...bitRate(each.bits, OPUS_RATES),
      ...like({ ...each, rate: 48_000 }),
    ],
    cover: 'comment',
    chapters: 'comment',
  },
};

/** Tags about the sound of the source that are not true of the result. */
const UNTRUE_TAGS: ReadonlySet<string> = new Set([
  ...['encoder', 'encoded_by', 'tsse', 'tlen', 'itunsmpb', 'language'],
  ...['replaygain_track_gain', 'replaygain_track_peak', 'replaygain_album_gain', 'replaygain_album_peak'],
  ...['r128_track_gain', 'r128_album_gain'],
  // Of the container.
  ...['major_brand', 'minor_version', 'compatible_brands'],
]);

interface WrittenSound {
  /** In the work folder. */
  readonly path: string;
  /** For the user. */
  readonly notes: readonly string[];
}

/** Encodes the sound once, or copies it where the format is the same. @throws PreparationFailure */
export function writeSound(programs: Programs, task: SoundTask, work: EngineRun): Promise<WrittenSound> {
  return explainFailures('the sound file cannot be written', async () => {
    const { video, source, format, loudness } = task;
    const encoding = ENCODINGS[format];
    const delivered = await readFacts(programs, video, work);
    const original = source === null ? null : await readFacts(programs, source.path, work);
    const [track] = delivered.tracks;
    if (track === undefined)
      throw new PreparationFailure(
        'MEDIA_UNSUPPORTED',
        'the delivered video has no sound',
        'tell the service',
      );
    const one = await readLike(programs, task, original ?? delivered, work);
    const tags = await writeTags(
      programs,
      task,
      { facts: original ?? delivered, end: delivered.durationSeconds },
      work,
    );
    const path = join(work.folder, 'sound');
    const encode = async (filters: readonly string[], isCopied = false) => {
      const sound = isCopied
        ? ['-c:a', 'copy']
        : [...(filters.length > 0 ? ['-af', filters.join(',')] : []), ...encoding.encode(one)];
      const args = [
        ...[...QUIET, ...untrustedInput(video), ...(source === null ? [] : convertibleInput(source.path))],
        ...[...tags.input, '-map', '0:a:0', ...sound, ...tags.output],
        // Chapters of a sample end with it.
        ...(delivered.durationSeconds === null ? [] : ['-t', String(delivered.durationSeconds)]),
        ...['-f', ...encoding.muxer, fileAddress(path)],
      ];
      await programs.run('ffmpeg', args, { ...work, limits: ENCODER_LIMITS });
      return path;
    };
    if (loudness !== undefined) {
      const made = await encodeAsLoud(programs, { file: video, target: loudness }, encode, work);
      return { path: made.path, notes: [...made.notes, ...tags.notes] };
    }
    return { path: await encode([], track.codec === encoding.copies), notes: tags.notes };
  });
}

const number = v.optional(v.pipe(v.unknown(), v.transform(Number)), 0);
const SoundSchema = v.object({
  streams: v.tuple([
    v.object({ sample_rate: number, channels: number, bits_per_sample: number, bits_per_raw_sample: number }),
  ]),
});

/** Sound of 44.1 kHz and its shares; all other has 48 kHz, as services deliver it. */
const CD_RATE = 44_100;
const CD_SHARE = 11_025;

async function readLike(
  programs: Programs,
  task: SoundTask,
  facts: VideoFacts,
  run: EngineRun,
): Promise<Like> {
  const { source, video } = task;
  const entries = 'stream=sample_rate,channels,bits_per_sample,bits_per_raw_sample';
  const which = `a:${(source?.track ?? 1) - 1}`;
  const args = ['-v', 'error', '-select_streams', which, '-show_entries', entries, '-of', 'json'];
  const input = convertibleInput(source?.path ?? video);
  const json = await programs.run('ffprobe', [...args, ...input], run);
  const [stream] = v.parse(v.pipe(v.string(), v.parseJson(), SoundSchema), json.toString('utf8')).streams;
  const { sample_rate: rate, channels, bits_per_sample: bits, bits_per_raw_sample: raw } = stream;
  return {
    channels: Math.max(1, Math.min(2, channels)),
    rate: rate % CD_SHARE === 0 ? CD_RATE : 48_000,
    isDeep: Math.max(bits || 0, raw || 0) > 16,
    // What a video has beside its sound says nothing.
    bits: source === null ? 0 : (8 * facts.bytes) / (facts.durationSeconds || Number.POSITIVE_INFINITY),
  };
}

/** In ffmpeg's format for tags. In the work folder. */
const TAGS_FILE = 'tags.txt';

/** Where tags are, and the end of the result in seconds. */
interface Tagged {
  readonly facts: VideoFacts;
  readonly end: number | null;
}

/** The arguments for tags, chapters and covers. */
async function writeTags(programs: Programs, task: SoundTask, { facts, end }: Tagged, work: EngineRun) {
  const { source, format, mark, video } = task;
  const { cover, chapters } = ENCODINGS[format];
  const at = source === null ? 0 : 1;
  const comment = mark === undefined ? null : await readComment(programs, source?.path ?? video, work);
  // The mark of a finished video says what its sound has.
  const isMarked = source === null && mark !== null && readMark(comment ?? '') !== null;
  const found = await readTags(programs, task, facts, work);
  const said = mark === undefined || isMarked ? [] : commentTags(mark, comment ?? '');
  const rows = [
    // In the place of a row that another comment replaces, ffmpeg writes the last one: the name of a chapter before its time.
    ...(said.length === 0 ? found.tags : found.tags.filter((row) => !/^comment=/i.test(row))),
    `language=${threeLetterCode(task.language)}`,
    ...(cover === 'comment' ? await readCovers(programs, task, facts, work) : []),
    ...(chapters === 'comment' ? formatChapters(found.chapters, end) : []),
  ];
  await writeFile(join(work.folder, TAGS_FILE), `;FFMETADATA1\n${rows.join('\n')}\n`);
  return {
    input: ['-f', 'ffmetadata', '-i', fileAddress(join(work.folder, TAGS_FILE))],
    output: [
      ...['-map_metadata', String(at + 1), '-map_metadata:s:a', '-1'],
      ...['-metadata:s:a:0', `language=${threeLetterCode(task.language)}`],
      ...said,
      ...['-map_chapters', chapters === 'own' ? String(at) : '-1'],
      ...(cover === 'stream' ? facts.covers : []).flatMap((index, place) => [
        ...['-map', `${at}:${index}`, `-c:v:${place}`, 'copy', `-disposition:v:${place}`, 'attached_pic'],
      ]),
    ],
    notes:
      cover === 'none' && facts.covers.length > 0 && source !== null
        ? [`its cover is left out, for which ${format.toUpperCase()} has no place`]
        : [],
  };
}

const Tags = v.optional(v.record(v.string(), v.string()), {});
const TagsSchema = v.object({
  format: v.object({ tags: Tags }),
  streams: v.array(v.object({ tags: Tags })),
  chapters: v.array(
    v.object({
      start_time: v.pipe(v.string(), v.transform(Number)),
      tags: v.optional(v.object({ title: v.optional(v.string(), '') }), { title: '' }),
    }),
  ),
});

async function readTags(programs: Programs, { source, video }: SoundTask, facts: VideoFacts, run: EngineRun) {
  const entries = 'format_tags:stream_tags:chapter=start_time:chapter_tags';
  const args = ['-v', 'error', '-select_streams', 'a', '-show_entries', entries, '-of', 'json'];
  const json = await programs.run('ffprobe', [...args, ...convertibleInput(source?.path ?? video)], run);
  const { format, streams, chapters } = v.parse(
    v.pipe(v.string(), v.parseJson(), TagsSchema),
    json.toString('utf8'),
  );
  // Ogg has its tags at the stream.
  const tags = { ...format.tags, ...(facts.demuxer === 'ogg' ? streams[0]?.tags : {}) };
  const rows = Object.entries(tags)
    .filter(([name]) => !UNTRUE_TAGS.has(name.toLowerCase()))
    .map(([name, text]) => `${escapeTag(name)}=${escapeTag(text)}`);
  return { tags: rows, chapters };
}

/** Escapes the value of a tag. */
const escapeTag = (text: string) => text.replace(/[=;#\\\n]/g, '\\$&');

/** The type of a front cover. Source: FLAC, METADATA_BLOCK_PICTURE. */
const FRONT_COVER = 3;
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
const COVER_BYTES = 64 * 1024 * 1024;

/** Covers as Vorbis comments. */
async function readCovers(
  programs: Programs,
  { source, video }: SoundTask,
  { covers }: VideoFacts,
  run: EngineRun,
): Promise<string[]> {
  const comments: string[] = [];
  for (const index of covers) {
    const input = convertibleInput(source?.path ?? video);
    const args = [
      ...QUIET,
      ...input,
      '-map',
      `0:${index}`,
      '-c',
      'copy',
      '-frames:v',
      '1',
      '-f',
      'image2pipe',
      '-',
    ];
    const picture = await programs.run('ffmpeg', args, { ...run, maxStdoutBytes: COVER_BYTES });
    const type = picture.subarray(0, PNG.length).equals(PNG) ? 'image/png' : 'image/jpeg';
    const long = (value: number) => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes;
    };
    // No description; size and colours unknown.
    const head = [long(FRONT_COVER), long(type.length), Buffer.from(type), ...[0, 0, 0, 0, 0].map(long)];
    const block = Buffer.concat([...head, long(picture.length), picture]);
    comments.push(`METADATA_BLOCK_PICTURE=${escapeTag(block.toString('base64'))}`);
  }
  return comments;
}

/** Chapters as Vorbis comments: `CHAPTER001=00:01:02.500`, and `CHAPTER001NAME`. @param end in seconds */
function formatChapters(
  chapters: v.InferOutput<typeof TagsSchema>['chapters'],
  end: number | null,
): string[] {
  const heard = chapters.filter(({ start_time: start }) => start < (end ?? Number.POSITIVE_INFINITY));
  return heard.flatMap(({ start_time: start, tags }, at) => {
    const name = `CHAPTER${String(at).padStart(3, '0')}`;
    const time = new Date(Math.round(start * 1000)).toISOString().slice(11, 23);
    return [`${name}=${time}`, `${name}NAME=${escapeTag(tags.title)}`];
  });
}

/** Checks before anything is paid that this ffmpeg writes the format: some are built without its encoder. @throws PreparationFailure */
export async function requireSoundEncoder(
  programs: Programs,
  format: SoundFormat,
  run: EngineRun,
): Promise<void> {
  const one: Like = { channels: 1, rate: 48_000, isDeep: false, bits: 0 };
  const args = [...QUIET, '-f', 'lavfi', '-i', 'anullsrc=r=48000:d=0.1', ...ENCODINGS[format].encode(one)];
  await explainFailures('ffmpeg cannot be started', () =>
    programs.run('ffmpeg', [...args, '-f', 'null', '-'], run).catch((error: unknown) => {
      if (!(error instanceof ChildFailure)) throw error;
      const message = `ffmpeg on this machine cannot write ${format.toUpperCase()}, in which the result comes back`;
      const advice = 'install an ffmpeg with its encoder, or give the sound as WAV';
      throw new PreparationFailure('MEDIA_UNSUPPORTED', message, advice, { cause: error });
    }),
  );
}
