/** How ffmpeg is run on a file that the service may not take as it is. */
import { DEMUXERS, fileAddress } from '../../engines/media/arguments.ts';

/** Containers beside the six of the service; none of their demuxers opens other files. */
const CONVERTIBLE = 'matroska,webm,mpegts,flv,asf,ogg';

/**
 * Input arguments for a video from outside: only files are opened, and only in these containers, else a playlist named
 * `.mkv` would make ffmpeg read other files and addresses. `options` are further input options.
 */
export function foreignInput(file: string, options: readonly string[] = []): string[] {
  const formats = `${DEMUXERS},${CONVERTIBLE}`;
  return [
    ...['-protocol_whitelist', 'file', '-format_whitelist', formats],
    ...options,
    ...['-i', fileAddress(file)],
  ];
}

/** What every run of a program gets; the folder is for temporary files. */
export interface ProgramRun {
  readonly signal: AbortSignal;
  readonly folder: string;
}

/** Reads the lines of ffmpeg's `-progress pipe:1` and reports the written fraction of `seconds`; nothing if that is 0. */
export function trackProgress(seconds: number, report: (fraction: number) => void): (line: string) => void {
  return (line) => {
    const time = /^out_time_us=(\d+)/.exec(line)?.[1];
    if (time !== undefined && seconds > 0) report(Math.min(1, Number(time) / 1e6 / seconds));
  };
}
