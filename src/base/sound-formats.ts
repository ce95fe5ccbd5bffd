/** Formats of sound files. */
import { extname } from 'node:path';

/** Extensions of their names; the first is the usual one. */
const EXTENSIONS = {
  mp3: ['.mp3'],
  m4a: ['.m4a', '.m4b'],
  aac: ['.aac'],
  wav: ['.wav'],
  flac: ['.flac'],
  ogg: ['.ogg', '.oga'],
  opus: ['.opus', '.ogg', '.oga'],
} as const;

/** `ogg`: Vorbis. */
export type SoundFormat = keyof typeof EXTENSIONS;

export const SOUND_EXTENSIONS: readonly string[] = [...new Set(Object.values(EXTENSIONS).flat())];

/** The extension of a file in this format, with its dot: that of the path if it fits. */
export function soundExtension(format: SoundFormat, path = ''): string {
  const own = extname(path).toLowerCase();
  const [usual, ...others] = EXTENSIONS[format];
  return others.find((each) => each === own) ?? usual;
}

/** Whether a file is called like sound. */
export function isCalledSound(path: string): boolean {
  return SOUND_EXTENSIONS.includes(extname(path).toLowerCase());
}
