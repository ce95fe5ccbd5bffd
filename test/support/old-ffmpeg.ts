/** An ffmpeg that is the real one, but says that it is an old version. */
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { rememberingPath } from './remembered-programs.ts';

/** A value for PATH with it. @param folder for the program */
export function oldFfmpegPath(folder: string): string {
  const path = join(folder, 'ffmpeg');
  const version = 'ffmpeg version 4.4.2-0ubuntu0.22.04.1 Copyright (c) 2000-2021 the FFmpeg developers';
  const rest = `PATH='${rememberingPath()}' exec ffmpeg "$@"`;
  writeFileSync(path, `#!/bin/sh\n[ "$1" != -version ] || exec echo '${version}'\n${rest}\n`);
  chmodSync(path, 0o755);
  return [folder, rememberingPath()].join(delimiter);
}
