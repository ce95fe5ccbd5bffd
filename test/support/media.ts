/** Reads facts about media files with ffprobe and ffmpeg. */
import { askProgram } from './remembered-programs.ts';

export interface Streams {
  readonly duration: number;
  readonly streams: readonly { codec_type: string; codec_name: string; tags?: { language?: string } }[];
}

/** Returns the streams with their codecs, and the duration of the file in seconds. */
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
  const found = JSON.parse(askProgram('ffprobe', args).toString());
  return { duration: Number(found.format.duration), streams: found.streams };
}

/**
 * Returns the checksums of the packets of each stream as they are coded, or of its decoded frames, in order.
 * @param streams ffmpeg's names of them, such as `0:a:0` for the first sound of the first file
 */
export function streamSums(
  files: readonly string[],
  streams: readonly string[],
  state: 'decoded' | 'coded' = 'coded',
): string[][] {
  const copy = state === 'coded' ? ['-c', 'copy'] : [];
  const [inputs, maps] = [files.flatMap((file) => ['-i', file]), streams.flatMap((name) => ['-map', name])];
  const args = ['-v', 'error', ...inputs, ...maps, ...copy, '-f', 'framemd5', '-'];
  const rows = askProgram('ffmpeg', args).toString().split('\n');
  return streams.map((_, at) =>
    rows.filter((row) => row.startsWith(`${at},`)).map((row) => row.split(',').at(-1)?.trim() ?? ''),
  );
}

/** Returns a checksum of each picture, in order: decoded, or as it is coded, which is quicker where it is only copied. */
export const pictureSums = (file: string, state: 'decoded' | 'coded' = 'decoded'): string[] =>
  streamSums([file], ['0:v:0'], state).flat();

export interface Cue {
  /** Seconds. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Reads the cues of the first subtitle track, or of an SRT file. */
export function readCues(file: string): Cue[] {
  const srt = askProgram('ffmpeg', ['-v', 'error', '-i', file, '-map', '0:s:0', '-f', 'srt', '-']).toString();
  // ffmpeg writes CRLF after the rows within a cue, regardless of the file.
  return srt
    .replaceAll('\r', '')
    .split(/\n\s*\n/)
    .flatMap((block) => {
      const match = /(\d+):(\d+):(\d+),(\d+) --> (\d+):(\d+):(\d+),(\d+)\n([\s\S]*)/.exec(block);
      if (match === null) return [];
      const [h1 = 0, m1 = 0, s1 = 0, ms1 = 0, h2 = 0, m2 = 0, s2 = 0, ms2 = 0] = match
        .slice(1, 9)
        .map(Number);
      const start = h1 * 3600 + m1 * 60 + s1 + ms1 / 1000;
      return [{ start, end: h2 * 3600 + m2 * 60 + s2 + ms2 / 1000, text: (match[9] ?? '').trim() }];
    });
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** One byte of brightness per pixel. */
  readonly pixels: Uint8Array;
}

/**
 * Returns the lowest quarter of the picture at a time in seconds, where subtitles are shown. The picture is scaled to
 * the given size.
 */
export function lowerPicture(file: string, at: number, size: { width: number; height: number }): Picture {
  const { width } = size;
  const height = Math.floor(size.height / 4);
  const filter = `scale=${width}:${size.height},crop=${width}:${height}:0:${size.height - height},format=gray`;
  const args = ['-v', 'error', '-ss', String(at), '-i', file, '-frames:v', '1', '-vf', filter];
  const pixels = askProgram('ffmpeg', [...args, '-f', 'rawvideo', '-']);
  return { width, height, pixels };
}

/**
 * Counts the pixels whose brightness differs by more than a third of the range: text and its outline, but no codec
 * artefacts.
 */
export function changedPixels(left: Picture, right: Picture): number {
  if (left.pixels.length !== right.pixels.length) throw new Error('the pictures differ in size');
  return left.pixels.reduce(
    (count, value, at) => (Math.abs(value - (right.pixels[at] ?? 0)) > 85 ? count + 1 : count),
    0,
  );
}

/** Returns width and height of the picture as it is stored. */
export function pictureSize(file: string): { width: number; height: number } {
  const args = ['-v', 'error', '-select_streams', 'v:0', '-show_entries', 'stream=width,height'];
  const text = askProgram('ffprobe', [...args, '-of', 'csv=p=0', file]).toString();
  const [width = 0, height = 0] = text.trim().split(',').map(Number);
  return { width, height };
}
