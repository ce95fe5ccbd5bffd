/** Where the subtitles of a localization in stages lie: beside the video, for people to edit. */
import { resolve } from 'node:path';
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import { isStageKey } from '../stages/items.ts';
import type { LeftFile, StageRecords } from '../stages/records.ts';
import { type ItemReport, readItemKey } from './item-report.ts';
import type { PageSubtitle } from './page-source.ts';

/**
 * The subtitles that belong to an item though no job of it has read or written them as files; none for an item that is no
 * part of such a localization.
 * @param folder of the results, absolute
 */
export function stageSubtitles(
  { key, kind, state, target_language: language }: ItemReport,
  { left, finished }: StageRecords,
  folder: string,
): readonly PageSubtitle[] {
  const files = [...left.values()];
  if (kind === 'auto_localization' && state === 'done') {
    const made = finished.get(key)?.newest;
    const spoken = {
      role: 'translated',
      language,
      path: made?.target ?? null,
      spoken: made?.target_lines ?? null,
    } as const;
    const heard = {
      role: 'original',
      language: languageOf(made?.source, files),
      path: made?.source ?? null,
      spoken: null,
    } as const;
    return [heard, spoken].flatMap(({ path, ...rest }) =>
      path === null ? [] : [{ ...rest, path: resolve(folder, path) }],
    );
  }
  const name = isStageKey(key) ? readItemKey(key)?.name : undefined;
  const role = kind === 'subtitle_recognition' ? 'source' : kind === 'subtitle_translation' ? 'target' : null;
  const own = files.filter((file) => file.video === name && file.role === role && speaks(file, language));
  return own.map((file) => ({
    role: file.role === 'source' ? 'original' : 'translated',
    language: known(file.language),
    path: resolve(folder, file.path),
    spoken: null,
  }));
}

function languageOf(path: string | null | undefined, files: readonly LeftFile[]): string | null {
  const file = files.find((each) => each.path === path);
  return file === undefined ? null : known(file.language);
}

/** `und` is for where nobody has told. */
function known(language: string): string | null {
  return language === 'und' ? null : language;
}

/** @param language null for any */
function speaks(file: LeftFile, language: string | null): boolean {
  return language === null || canonicalLanguage(file.language) === canonicalLanguage(language);
}
