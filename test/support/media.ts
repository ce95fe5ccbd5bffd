/** Facts about media files, by ffprobe and ffmpeg. */
import { execFileSync } from 'node:child_process';

export interface Streams {
  readonly duration: number;
  readonly streams: readonly { codec_type: string; codec_name: string; tags?: { language?: string } }[];
}

/** Streams with their codecs, and the duration of the file in seconds. */
export function probeStreams(file: string): Streams {
  const args = [
    '-v',
    'error',
    '-show_entries',
    'format=duration:stream=codec_type,codec_name:stream_tags=language',
    '-of',
    'json',
    file,
  ];
  const found = JSON.parse(execFileSync('ffprobe', args, { encoding: 'utf8' }));
  return { duration: Number(found.format.duration), streams: found.streams };
}

/** A checksum of each decoded picture, in order. */
export function pictureSums(file: string): string[] {
  const args = ['-v', 'error', '-i', file, '-map', '0:v:0', '-f', 'framemd5', '-'];
  const rows = execFileSync('ffmpeg', args, { encoding: 'utf8', maxBuffer: 2 ** 28 }).split('\n');
  return rows
    .filter((row) => row !== '' && !row.startsWith('#'))
    .map((row) => row.split(',').at(-1)?.trim() ?? '');
}

export interface Cue {
  /** Seconds. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The cues of the first subtitle track, or of an SRT file. */
export function readCues(file: string): Cue[] {
  const srt = execFileSync('ffmpeg', ['-v', 'error', '-i', file, '-map', '0:s:0', '-f', 'srt', '-'], {
    encoding: 'utf8',
  });
  return srt.split(/\n\s*\n/).flatMap((block) => {
    const match = /(\d+):(\d+):(\d+),(\d+) --> (\d+):(\d+):(\d+),(\d+)\n([\s\S]*)/.exec(block);
    if (match === null) return [];
    const [h1 = 0, m1 = 0, s1 = 0, ms1 = 0, h2 = 0, m2 = 0, s2 = 0, ms2 = 0] = match.slice(1, 9).map(Number);
    const start = h1 * 3600 + m1 * 60 + s1 + ms1 / 1000;
    return [{ start, end: h2 * 3600 + m2 * 60 + s2 + ms2 / 1000, text: (match[9] ?? '').trim() }];
  });
}
