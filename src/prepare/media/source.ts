/** How ffmpeg is pointed at a file that the service may not take as it is. */
import { DEMUXERS, fileAddress } from '../../engines/media/arguments.ts';

/** Containers that are read besides the six of the service; none of these demuxers opens other files. */
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

/** What every run of a program is handed: the folder is for temporary files. */
export interface Run {
  readonly signal: AbortSignal;
  readonly folder: string;
}
