/** The paid calls that a localization in stages is made of, as items of a batch: pure. */
import { hash } from 'node:crypto';
import { COMMON_FIELDS } from '../../protocol/fields.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { formatSrt } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { BatchItem } from '../item.ts';
import type { FileInput, JobInput, LinesPart } from '../plan/input.ts';
import { createItem } from '../plan/items.ts';
import { NO_LANGUAGE } from '../plan/result-name.ts';

/** Where intermediate results lie, below the folder of results. */
export const STAGES_FOLDER = '.vloc/stages';

/** Marks the keys of stages; their files are named as all that only vloc reads. */
const STAGE_TEMPLATE = '{stem}.{asset}.{lang}{ext}';

/** Whether a key is that of a stage. */
export function isStageKey(key: string): boolean {
  return key.endsWith(`,${JSON.stringify(STAGE_TEMPLATE)}]`);
}

const LANGUAGE = /\.subtitle\.([A-Za-z0-9-]+)\.srt$/;

/** The language that a subtitle of a stage is in, by its name; null where the service told none. */
export function languageOfStage(path: string): string | null {
  const told = LANGUAGE.exec(path)?.[1] ?? NO_LANGUAGE;
  return told === NO_LANGUAGE ? null : told;
}

export type VideoItem = BatchItem & { readonly input: FileInput };

/** The subtitles that a stage works on. */
export interface StageLines {
  /** For people: the name of their file. */
  readonly label: string;
  readonly lines: readonly SubtitleLine[];
  /** In parts where they are more than the service takes. */
  readonly parts: readonly LinesPart[] | null;
}

/** Recognition or separation of the video of a localization: the same for all its languages. */
export function videoStage(kind: 'subtitle_recognition' | 'audio_separation', whole: VideoItem): BatchItem {
  const request = { targetLanguage: null, fields: fieldsFor(kind, whole) };
  return inStages(createItem(kind, whole.input, request, STAGE_TEMPLATE), whole);
}

/**
 * Translation or dubbing for a localization. The key names video and language, so that edited subtitles are a change.
 * @param sourceLanguage of subtitles to be translated, where it is known
 */
export function linesStage(
  kind: 'subtitle_translation' | 'dubbing',
  whole: VideoItem,
  from: StageLines,
  sourceLanguage: string | null = null,
): BatchItem {
  const { label, stem, name } = whole.input;
  const { lines, parts } = from;
  const input: JobInput = {
    type: 'lines',
    label,
    stem,
    name,
    lines,
    sha256: digestLines(lines),
    file: null,
    parts,
  };
  const fields = {
    ...fieldsFor(kind, whole),
    ...(sourceLanguage === null ? {} : { source_language: sourceLanguage }),
  };
  return inStages(
    createItem(kind, input, { targetLanguage: whole.targetLanguage, fields }, STAGE_TEMPLATE),
    whole,
  );
}

/** Of what is said when: another ending of rows or another numbering is no other subtitle. */
export function digestLines(lines: readonly SubtitleLine[]): string {
  return hash('sha256', formatSrt(lines));
}

/** What the request of the whole says to this kind too. */
function fieldsFor(kind: JobKind, whole: BatchItem): Record<string, unknown> {
  const known = new Set(Object.keys({ ...KINDS[kind].fields, ...COMMON_FIELDS }));
  return Object.fromEntries(Object.entries(whole.fields).filter(([field]) => known.has(field)));
}

function inStages(item: BatchItem, whole: BatchItem): BatchItem {
  const folder = whole.folder === '' ? STAGES_FOLDER : `${STAGES_FOLDER}/${whole.folder}`;
  return { ...item, folder };
}
