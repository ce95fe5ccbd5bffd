/** Finds the subtitles of a folder that belong together: a source and its translations. */
import { dirname } from 'node:path/posix';
import { usageFailure } from '../../base/failure.ts';
import { subtitleStem } from '../../batch/inputs/check-subtitle.ts';
import { type ScannedText, scanText } from '../../media/subtitles/read-subtitle.ts';
import { baseLanguage } from '../../protocol/language-tag.ts';
import { SubtitleError } from '../../protocol/srt.ts';
import { type SubtitleFile, USE } from '../subtitles/subtitles.ts';

/** A file that was read. */
export interface ReviewText extends SubtitleFile {
  readonly scanned: ScannedText;
}

export interface TextGroup {
  readonly source: ReviewText | null;
  /** By language, as asked for; a missing one has no file. */
  readonly targets: ReadonlyMap<string, ReviewText>;
}

/**
 * The groups with at least one translation, in the order of the files. Files belong together if only their language differs.
 * @param languages canonical tags
 * @param from of the source; null for the one that is in `sources`, or the only other one
 * @param sources paths of files that are known to be one
 * @throws Failure (`usage`) for a text that cannot be read, and if it is not clear which of several files is meant
 */
export function groupTexts(
  files: readonly SubtitleFile[],
  languages: readonly string[],
  from: string | null,
  sources: ReadonlySet<string>,
): readonly TextGroup[] {
  const groups = Map.groupBy(files, ({ name }) => `${dirname(name)}/${subtitleStem(name.replace(USE, ''))}`);
  return [...groups.values()].flatMap((group) => {
    // Subtitles for the deaf, such as `talk.es.sdh.srt`, are a text of their own.
    const uses = Map.groupBy(group, useOf);
    return [...uses.values()].flatMap((same) => {
      const targets = languages.flatMap((each) => {
        const found = same.filter(({ language }) => language === each);
        const file = onlyOne(found, 'Name only one of them, or the folder of one.');
        return file === null ? [] : [[each, readText(file)] as const];
      });
      if (targets.length === 0) return [];
      const sourcesIn = (some: readonly SubtitleFile[]) => findSource(some, languages, from, sources);
      const found = sourcesIn(same) ?? sourcesIn(uses.get('') ?? []) ?? sourcesIn(group);
      return [{ source: found === null ? null : readText(found), targets: new Map(targets) }];
    });
  });
}

function useOf({ name }: SubtitleFile): string {
  return USE.exec(name)?.[0].toLowerCase() ?? '';
}

function findSource(
  files: readonly SubtitleFile[],
  languages: readonly string[],
  from: string | null,
  sources: ReadonlySet<string>,
): SubtitleFile | null {
  const others = files.filter(({ language }) => language === null || !languages.includes(language));
  const tagged = others.filter(({ language }) => language !== null && isIn(language, from));
  const known = from === null ? others.filter(({ path }) => sources.has(path)) : [];
  const untagged = others.filter(({ language }) => language === null);
  const found = [known, tagged, untagged].find(({ length }) => length > 0) ?? [];
  return onlyOne(found, 'Say which language is the source with --from.');
}

function isIn(language: string, wanted: string | null): boolean {
  return wanted === null || baseLanguage(language) === baseLanguage(wanted);
}

function onlyOne(files: readonly SubtitleFile[], advice: string): SubtitleFile | null {
  const [first = null] = files;
  if (files.length < 2) return first;
  const names = files.map(({ label }) => label).join(', ');
  throw usageFailure('SEVERAL_SUBTITLES', `several files could be the same text: ${names}`, advice);
}

function readText(file: SubtitleFile): ReviewText {
  const scanned = scanFile(file.bytes, file.path);
  if (typeof scanned !== 'string') return { ...file, scanned };
  throw usageFailure('SUBTITLE_INVALID', `${file.label}: ${scanned}`, 'Correct it in a subtitle editor.');
}

/** A file whose rows can all be read, or why one cannot. */
export function scanFile(bytes: Uint8Array, name: string): ScannedText | string {
  try {
    const scanned = scanText(bytes, name);
    const [fault] = scanned.faults;
    return fault === undefined ? scanned : `row ${fault.row}: ${fault.message}`;
  } catch (error) {
    if (error instanceof SubtitleError) return error.message;
    throw error;
  }
}
