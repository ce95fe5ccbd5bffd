/** The jobs of a localization in stages, as items of a batch. Pure. */
import { hash } from 'node:crypto';
import { COMMON_FIELDS } from '../../protocol/fields.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { formatSrt } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { FileInput, JobInput, LinesPart, VoicesByName } from '../input.ts';
import type { BatchItem } from '../item.ts';
import { NO_LANGUAGE, resultFolder } from '../result-name.ts';
import type { Terms } from '../terms.ts';
import { createItem } from './items.ts';

/** The folder of intermediate results, below the output folder. */
export const STAGES_FOLDER = '.vloc/stages';

/** The file names of intermediate results. As part of the item keys, it marks the items of stages. */
const STAGE_TEMPLATE = '{stem}.{asset}.{lang}{ext}';

/** Whether a key belongs to an item of a stage. */
export function isStageKey(key: string): boolean {
  return key.endsWith(`,${JSON.stringify(STAGE_TEMPLATE)}]`);
}

const LANGUAGE = /\.subtitle\.([A-Za-z0-9-]+)\.srt$/;

/** The language of an intermediate subtitle file, by its name; null if the service reported none. */
export function languageOfStage(path: string): string | null {
  const language = LANGUAGE.exec(path)?.[1] ?? NO_LANGUAGE;
  return language === NO_LANGUAGE ? null : language;
}

export type VideoItem = BatchItem & { readonly input: FileInput };

/** The subtitles that a stage works on. */
export interface StageLines {
  /** The name of their file in messages. */
  readonly label: string;
  readonly lines: readonly SubtitleLine[];
  /** Parts, if there are more lines than the service accepts in one request; otherwise null. */
  readonly parts: readonly LinesPart[] | null;
  /** Those of --voices; missing without. */
  readonly voices?: VoicesByName | undefined;
}

/** The recognition or separation of a video, shared by all its targets. */
export function videoStage(kind: 'subtitle_recognition' | 'audio_separation', whole: VideoItem): BatchItem {
  const request = { targetLanguage: null, fields: fieldsFor(kind, whole) };
  return inStages(createItem(kind, whole.input, request, STAGE_TEMPLATE), whole);
}

/**
 * Translation or dubbing for a localization. The key names video and language, so that edited subtitles are a change.
 * @param from null if they are not known yet, nor the units of the job
 * @param sourceLanguage of subtitles to be translated, where it is known
 * @param terms see `createItem`
 */
export function linesStage(
  kind: 'subtitle_translation' | 'dubbing',
  whole: VideoItem,
  from: StageLines | null,
  sourceLanguage: string | null = null,
  terms?: Terms,
): BatchItem {
  const { label, stem, name } = whole.input;
  const { lines, parts, voices } = from ?? NO_LINES;
  const input: JobInput = {
    type: 'lines',
    label,
    stem,
    name,
    lines,
    sha256: digestStage(from ?? NO_LINES),
    file: null,
    parts,
    voices,
  };
  const fields = {
    ...fieldsFor(kind, whole),
    ...(sourceLanguage === null ? {} : { source_language: sourceLanguage }),
  };
  const request = { targetLanguage: whole.targetLanguage, fields };
  const item = createItem(kind, input, request, STAGE_TEMPLATE, terms);
  return inStages(from === null ? { ...item, units: null } : item, whole);
}

const NO_LINES: StageLines = { label: '', lines: [], parts: null };

/** Digest of texts and times. Line ends and numbering do not matter. */
export function digestLines(lines: readonly SubtitleLine[]): string {
  return hash('sha256', formatSrt(lines));
}

/** Digest of what is sent: with voices, also of whose line each is. */
function digestStage({ lines, parts, voices }: StageLines): string {
  const whole = digestLines(lines);
  if (voices === undefined) return whole;
  const spoken = (parts ?? []).map((part) => [part.voice?.speaker ?? null, part.lines]);
  return hash('sha256', JSON.stringify([whole, spoken]));
}

/** The fields of the localization that a job of this kind also has. */
function fieldsFor(kind: JobKind, whole: BatchItem): Record<string, unknown> {
  const known = new Set(Object.keys({ ...KINDS[kind].fields, ...COMMON_FIELDS }));
  return Object.fromEntries(Object.entries(whole.fields).filter(([field]) => known.has(field)));
}

function inStages(item: BatchItem, whole: BatchItem): BatchItem {
  const own = resultFolder(whole.input.name);
  const folder = own === '' ? STAGES_FOLDER : `${STAGES_FOLDER}/${own}`;
  return { ...item, folder, isInner: true };
}
