/** An ffmpeg that is the real one, but says that it is an old version. */
import { pathWith } from './path-without.ts';
import { rememberingPath } from './remembered-programs.ts';

/** A value for PATH with it. */
export function oldFfmpegPath(): string {
  const version = 'ffmpeg version 4.4.2-0ubuntu0.22.04.1 Copyright (c) 2000-2021 the FFmpeg developers';
  const answer = `[ "$1" != -version ] || exec echo '${version}'`;
  return pathWith('ffmpeg', answer, `PATH='${rememberingPath()}' exec ffmpeg "$@"`);
}
