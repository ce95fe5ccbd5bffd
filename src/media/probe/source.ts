/** How ffmpeg is run on files in formats that the service may not accept. */
import { DEMUXERS, fileAddress } from '../programs/arguments.ts';

/** Accepted in addition to the six containers of the service. None of their demuxers opens other files. */
const CONVERTIBLE = 'matroska,webm,mpegts,flv,asf,ogg';

/**
 * Returns input arguments for an untrusted video. Only files in these containers are opened: otherwise a playlist named
 * `.mkv` could make ffmpeg read other files and URLs. `options` are further input options.
 */
export function foreignInput(file: string, options: readonly string[] = []): string[] {
  const formats = `${DEMUXERS},${CONVERTIBLE}`;
  return [
    ...['-protocol_whitelist', 'file', '-format_whitelist', formats],
    ...options,
    ...['-i', fileAddress(file)],
  ];
}

/** What each run of a program receives. The folder is for temporary files. */
export interface ProgramRun {
  readonly signal: AbortSignal;
  readonly folder: string;
}

/**
 * Parses the lines of ffmpeg's `-progress pipe:1` and reports the written fraction of `seconds`. Reports nothing if
 * `seconds` is 0.
 */
export function trackProgress(seconds: number, report: (fraction: number) => void): (line: string) => void {
  return (line) => {
    const time = /^out_time_us=(\d+)/.exec(line)?.[1];
    if (time !== undefined && seconds > 0) report(Math.min(1, Number(time) / 1e6 / seconds));
  };
}
