/** Sound files of each format, with tags, chapters and a cover, and what is in a sound file. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ffmpeg } from '../engines/workspace.ts';
import { makeFolder } from './make-folder.ts';

/** Encoders by extension. */
const ENCODERS: Readonly<Record<string, readonly string[]>> = {
  mp3: ['-c:a', 'libmp3lame', '-b:a', '64k'],
  m4a: ['-c:a', 'aac', '-f', 'ipod'],
  m4b: ['-c:a', 'aac', '-f', 'ipod'],
  alac: ['-c:a', 'alac', '-f', 'ipod'],
  aac: ['-c:a', 'aac', '-f', 'adts'],
  wav: ['-c:a', 'pcm_s16le'],
  flac: ['-c:a', 'flac'],
  ogg: ['-c:a', 'libvorbis'],
  oga: ['-c:a', 'libvorbis', '-f', 'ogg'],
  opus: ['-c:a', 'libopus'],
};

export const TAGS = { title: 'My Episode', artist: 'Ann; Ben = two', album: 'Podcast #1' };

const CHAPTERS = [
  ';FFMETADATA1',
  'title=My Episode',
  'artist=Ann\\; Ben \\= two',
  'album=Podcast \\#1',
  'REPLAYGAIN_TRACK_GAIN=-7.00 dB',
  ...['[CHAPTER]', 'TIMEBASE=1/1000', 'START=0', 'END=1000', 'title=One'],
  ...['[CHAPTER]', 'TIMEBASE=1/1000', 'START=1000', 'END=3000', 'title=Two'],
].join('\n');

/** Formats whose tags of ffmpeg have a place for a cover. */
const WITH_COVER = ['mp3', 'm4a', 'm4b', 'alac', 'flac'];

/**
 * Writes a tone into a folder, with tags, and with chapters and a cover where ffmpeg writes them.
 * @param name `episode.mp3`
 */
export function makeSound(
  folder: string,
  name: string,
  seconds = 3,
  source = `sine=f=440:r=44100:d=${seconds}`,
): string {
  const extension = name.slice(name.lastIndexOf('.') + 1);
  const path = join(folder, name);
  const tags = join(makeFolder(), 'tags.txt');
  writeFileSync(tags, CHAPTERS);
  const hasCover = WITH_COVER.includes(extension);
  const cover = hasCover ? ['-f', 'lavfi', '-t', '0.04', '-i', 'color=c=red:s=32x32'] : [];
  ffmpeg(
    ...['-f', 'lavfi', '-i', source, '-f', 'ffmetadata', '-i', tags, ...cover],
    ...['-map', '0:a', '-map_metadata', '1', '-map_chapters', '1', ...(ENCODERS[extension] ?? [])],
    ...(hasCover ? ['-map', '2:v', '-c:v', 'mjpeg', '-disposition:v:0', 'attached_pic'] : []),
    ...['-y', path],
  );
  return path;
}

export interface HeardSound {
  /** ffmpeg's names. */
  readonly container: string;
  readonly codec: string;
  readonly seconds: number;
  readonly rate: number;
  readonly channels: number;
  /** Bits of a sample, where the codec has them; else 0. */
  readonly depth: number;
  /** Bits per second of the whole file. */
  readonly bits: number;
  /** By lower-case name, of the file and of its sound. */
  readonly tags: Readonly<Record<string, string>>;
  readonly chapters: readonly string[];
  readonly covers: number;
}

export function readSound(path: string): HeardSound {
  const args = ['-v', 'error', '-show_format', '-show_streams', '-show_chapters', '-of', 'json', path];
  const { format, streams, chapters } = JSON.parse(execFileSync('ffprobe', args, { encoding: 'utf8' }));
  const sound = streams.find((each: { codec_type: string }) => each.codec_type === 'audio');
  const tags = Object.entries<string>({ ...sound.tags, ...format.tags });
  return {
    container: format.format_name,
    codec: sound.codec_name,
    seconds: Number(format.duration),
    rate: Number(sound.sample_rate),
    channels: sound.channels,
    depth: Number(sound.bits_per_raw_sample ?? 0) || sound.bits_per_sample,
    bits: Number(format.bit_rate),
    tags: Object.fromEntries(tags.map(([name, value]) => [name.toLowerCase(), value])),
    chapters: chapters.map((each: { start_time: string; tags?: { title?: string } }) => {
      const start = Number(each.start_time).toFixed(1);
      return `${start} ${each.tags?.title ?? ''}`;
    }),
    covers: streams.filter((each: { codec_type: string }) => each.codec_type === 'video').length,
  };
}

/** Loudness in LUFS and true peak in dBTP, by the summary of ffmpeg's ebur128. */
export function measureSound(path: string): { lufs: number; peak: number } {
  const args = [
    '-hide_banner',
    '-nostats',
    '-i',
    path,
    '-map',
    '0:a:0',
    '-af',
    'ebur128=peak=true',
    '-f',
    'null',
    '-',
  ];
  const text = execFileSync('sh', ['-c', 'ffmpeg "$@" 2>&1', 'sh', ...args], { encoding: 'utf8' });
  const summary = text.slice(text.lastIndexOf('Summary:'));
  const lufs = Number(/I:\s+(-?[\d.]+) LUFS/.exec(summary)?.[1]);
  return { lufs, peak: Number(/Peak:\s+(-?[\d.]+|-inf) dBFS/.exec(summary)?.[1]) };
}
