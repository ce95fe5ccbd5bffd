/** Subtitle files beside a video, named by their language: `talk.es.srt` for `talk.mp4`. */
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fitName } from '../batch/plan/result-name.ts';
import { baseLanguage, canonicalLanguage } from '../protocol/language-tag.ts';
import type { SubtitleFormat } from '../protocol/subtitle-line.ts';

export interface BesideFile {
  /** Absolute. */
  readonly path: string;
  /** BCP 47, in canonical case. */
  readonly language: string;
}

/** ISO 639 tags of two or three letters, with what may follow: `talk.final.srt` names no language. */
const ENDING = /\.([a-z]{2,3}(?:-[a-z0-9]{2,8})*)\.(?:srt|vtt|ass|ssa)$/i;

/** Where a subtitle of the video goes, cut where the name would be too long for the file system. @param language null where nobody has told it: `und` (undetermined) */
export function besidePath(
  video: { readonly path: string; readonly stem: string },
  language: string | null,
  format: SubtitleFormat,
): string {
  const tag = canonicalLanguage(language ?? 'und') ?? 'und';
  return join(dirname(video.path), fitName(`${video.stem}.${tag}.${format}`, video.stem));
}

/** All that lie there; none where the folder cannot be read, since the video itself was read before. */
export async function findBeside(video: {
  readonly path: string;
  readonly stem: string;
}): Promise<readonly BesideFile[]> {
  const folder = dirname(video.path);
  const names = await readdir(folder).catch(() => []);
  return names.toSorted().flatMap((name): BesideFile[] => {
    const [ending = '', tag] = ENDING.exec(name) ?? [];
    const whole = `${video.stem}${ending}`;
    const isOfVideo = name === whole || name === fitName(whole, video.stem);
    const language = tag === undefined || !isOfVideo ? null : canonicalLanguage(tag);
    return language === null ? [] : [{ path: join(folder, name), language }];
  });
}

/** Those in this language: by the very tag, else in any variety of it. */
export function inLanguage<T extends BesideFile>(files: readonly T[], language: string): readonly T[] {
  const tag = canonicalLanguage(language) ?? language;
  const exact = files.filter((file) => file.language === tag);
  return exact.length > 0 ? exact : files.filter((file) => baseLanguage(file.language) === baseLanguage(tag));
}
