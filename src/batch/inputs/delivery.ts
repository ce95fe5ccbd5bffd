/** Names of results, and the treatment of files that exist. */
import { extname, join, resolve } from 'node:path';
import { type FindInput, foldName } from '../../base/find-input.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS, type ResultPart } from '../../protocol/kinds.ts';
import { SUBTITLE_FORMATS, type SubtitleFormat } from '../../protocol/subtitle-line.ts';
import { type InputProblem, isCopied, type JobInput } from '../input.ts';
import type { BatchItem } from '../item.ts';
import { readShard, type Shard } from '../records/shard.ts';
import {
  askedLanguage,
  assetPaths,
  defaultTemplate,
  innerTemplate,
  nameLanguage,
  sampleTemplate,
} from '../result-name.ts';

export interface Delivery {
  /** Absolute. */
  readonly folder: string;
  /** The shard that the run works on; undefined for all of the batch. */
  readonly shard?: Shard | undefined;
  /** True if the user chose the folder. */
  readonly isFolderGiven?: boolean;
  /** Empty for the default of each job's kind. */
  readonly template: string;
  readonly existing: 'refuse' | 'replace' | 'skip';
  /** True for videos as the service made them, without what their run would do to them. */
  readonly isAsIs?: boolean;
  /** True if the folder is temporary, and the result goes to stdout. */
  readonly toStdout?: boolean;
  /** The format of subtitles that the user asked for, also by the ending of a name; absent for that of each input. */
  readonly subtitleFormat?: string;
  readonly rewriteSubtitle?: RewriteSubtitle;
  /** How the result of an item is written: see `deliveryOf`. */
  readonly rewrite?: SubtitleRewrite;
}

/** Writes the SRT of a service in another form. */
export interface SubtitleRewrite {
  readonly format: SubtitleFormat;
  readonly apply: (srt: Uint8Array) => Promise<Uint8Array>;
}

/** The subtitles that a translation is made of. */
export type SourceSubtitle = Pick<
  JobInput & { readonly type: 'lines' },
  'type' | 'label' | 'sha256' | 'stdin' | 'form'
> & {
  readonly file: { readonly path: string } | null;
};

/**
 * How the subtitles made from an input are written; undefined for the SRT of the service as it is.
 * @param asked format; undefined for that of the input
 * @param input null if it is not known
 */
export type RewriteSubtitle = (
  asked: string | undefined,
  input: Exclude<JobInput, { readonly type: 'lines' }> | SourceSubtitle | null,
) => SubtitleRewrite | undefined;

interface DeliveryIo {
  readonly cwd: string;
  readonly rewriteSubtitle?: RewriteSubtitle;
}

/** The template that names the results of a kind. */
export function templateFor({ template }: Pick<Delivery, 'template'>, kind: JobKind): string {
  return template || defaultTemplate(kind);
}

/** The options about results. */
export type ResultOptions = {
  readonly out?: string | undefined;
  readonly name?: string | undefined;
  readonly clobber?: boolean | undefined;
  readonly skipExisting?: boolean | undefined;
  readonly subtitleFormat?: string | undefined;
  readonly asIs?: boolean | undefined;
  readonly shard?: string | undefined;
  /** Milliseconds. */
  readonly sample?: number | undefined;
};

/**
 * The delivery for these options.
 * @param kind null for jobs of several kinds
 * @throws Failure of category usage for a shard that does not exist
 */
export function readDelivery(
  kind: JobKind | null,
  options: ResultOptions,
  { cwd, rewriteSubtitle }: DeliveryIo,
): Delivery {
  const { out, name, clobber = false, skipExisting = false, asIs = false } = options;
  const format =
    options.subtitleFormat ??
    SUBTITLE_FORMATS.find((each) => extname(name ?? '').toLowerCase() === `.${each}`);
  const whole = name ?? (kind === null ? '' : defaultTemplate(kind));
  // Another name makes a sample another item, so it is never taken for the whole.
  const template = options.sample === undefined ? whole : sampleTemplate(whole);
  const isFolderGiven = out !== undefined;
  return {
    folder: out === undefined ? cwd : resolve(cwd, out),
    ...(options.shard === undefined ? {} : { shard: readShard(options.shard) }),
    isFolderGiven,
    template,
    existing: clobber ? 'replace' : skipExisting ? 'skip' : 'refuse',
    ...(format === undefined ? {} : { subtitleFormat: format }),
    ...(rewriteSubtitle === undefined ? {} : { rewriteSubtitle }),
    ...(asIs ? { isAsIs: true } : {}),
  };
}

/**
 * The delivery of an item: below the folder for results, in the same subfolder as its input, and in its format. What only vloc reads
 * is as the service made it, and replaces what was there.
 */
export function deliveryOf(
  delivery: Delivery,
  { kind, folder, input, isInner, sound }: Pick<BatchItem, 'kind' | 'folder' | 'input' | 'isInner' | 'sound'>,
): Delivery {
  const place = join(delivery.folder, folder);
  if (isInner === true) return { folder: place, template: innerTemplate(kind), existing: 'replace' };
  const { rewriteSubtitle, subtitleFormat } = delivery;
  const rewrite = givesSubtitles(kind) ? rewriteSubtitle?.(subtitleFormat, input) : undefined;
  const own = { ...delivery, folder: place };
  // A copy stays what it is.
  if (input.type === 'file' && isCopied(input))
    return { ...own, template: templateFor(delivery, kind).replaceAll('{ext}', extname(input.path)) };
  if (sound !== undefined)
    return { ...own, template: templateFor(delivery, kind).replaceAll('{ext}', sound.extension) };
  if (rewrite === undefined) return own;
  // `{ext}` is that of SRT already.
  if (rewrite.format === 'srt') return { ...own, rewrite };
  return { ...own, rewrite, template: withExtension(templateFor(delivery, kind), rewrite.format) };
}

function withExtension(template: string, format: string): string {
  return template.replaceAll('{ext}', `.${format}`);
}

/**
 * The template by which an item is known; null for the usual one. A result in another format than the usual one is another item, so
 * an existing one is kept.
 */
export function ownTemplate(kind: JobKind, input: JobInput, delivery: Delivery): string | null {
  const { template, subtitleFormat: asked } = delivery;
  const usual = input.type === 'lines' ? (input.form ?? 'srt') : 'srt';
  const isOther = asked !== undefined && asked !== usual && givesSubtitles(kind);
  if (isOther) return withExtension(templateFor(delivery, kind), asked);
  return template === '' || template === defaultTemplate(kind) ? null : template;
}

/** Whether the result of the kind is a video. */
export function givesVideo(kind: JobKind): boolean {
  const parts: readonly ResultPart[] = Object.values(KINDS[kind].result);
  return parts.some((part) => part.type === 'asset' && part.format === 'mp4');
}

/** Whether the result of the kind is subtitles. */
export function givesSubtitles(kind: JobKind | null): boolean {
  const parts: readonly ResultPart[] = kind === null ? [] : Object.values(KINDS[kind].result);
  return parts.some(({ type }) => type === 'lines');
}

/** Placeholders for a language that the job will find out, and for the id of a job that does not exist yet. */
const ANY_LANGUAGE = 'LANG';
const ANY_ID = 'ID';

export interface Places {
  /** Absolute paths of all files of the result; null if a name depends on what the job finds out. */
  readonly paths: readonly string[] | null;
  /** Paths that no other item may write, with placeholders for what is unknown. Empty for names with `{id}`. */
  readonly claims: readonly string[];
}

/**
 * The paths of the result, and those that it claims.
 * @throws Failure of category usage for a template that is not usable
 */
export function placeResults(item: PlaceableItem, delivery: Delivery): Places {
  const paths = resultPaths(item, delivery);
  if (templateFor(delivery, item.kind).includes('{id}')) return { paths, claims: [] };
  return { paths, claims: pathsIn(item, delivery, item.targetLanguage) };
}

type PlaceableItem = Pick<
  BatchItem,
  'kind' | 'input' | 'targetLanguage' | 'fields' | 'folder' | 'isInner' | 'sound'
>;

/** The language that the item requests; null if its job finds it out, and for results without a language. */
export function languageOfItem({
  kind,
  targetLanguage,
  fields,
}: Omit<PlaceableItem, 'input' | 'folder'>): string | null {
  return targetLanguage ?? askedLanguage(kind, fields);
}

/**
 * Absolute paths of all files of the result; null if a name depends on what the job finds out.
 * @throws Failure of category usage for a template that is not usable
 */
export function resultPaths(item: PlaceableItem, delivery: Delivery): readonly string[] | null {
  const template = templateFor(deliveryOf(delivery, item), item.kind);
  const language = languageOfItem(item);
  const isLater = template.includes('{id}') || (template.includes('{lang}') && language === null);
  // Computed also if they are unknown, so that an invalid template is reported before anything is paid.
  const paths = pathsIn(item, delivery, language);
  return isLater ? null : paths;
}

function pathsIn(item: PlaceableItem, delivery: Delivery, language: string | null): readonly string[] {
  const { kind, input } = item;
  const lang = nameLanguage(kind, language, ANY_LANGUAGE);
  const parts = { stem: input.stem, lang, id: ANY_ID };
  const own = deliveryOf(delivery, item);
  return assetPaths(kind, own.folder, templateFor(own, kind), parts);
}

export interface Claim {
  /** Label of the item. */
  readonly label: string;
  readonly path: string;
}

/** Finds items that would write the same file, on this disk or on a case-insensitive one. */
export function findClashes(claims: readonly Claim[]): InputProblem[] {
  const taken = new Map<string, Claim>();
  return claims.flatMap((claim): InputProblem[] => {
    const first = taken.get(foldName(claim.path));
    if (first === undefined) {
      taken.set(foldName(claim.path), claim);
      return [];
    }
    const like =
      first.path === claim.path
        ? `as ${first.label} does`
        : `which on many disks is the same file as ${first.path} of ${first.label}`;
    return [
      { pointer: claim.label, detail: `would write ${claim.path}, ${like}; use --name or two folders` },
    ];
  });
}

/** Finds results that would overwrite an input. Not even --clobber may do that. */
export async function findOverwrittenInputs(
  claims: readonly Claim[],
  findInput: FindInput,
): Promise<InputProblem[]> {
  const problems: InputProblem[] = [];
  for (const { label, path } of claims) {
    const input = await findInput(path);
    if (input === null) continue;
    const what = input === path ? 'the input' : `${path}, which is the input`;
    problems.push({
      pointer: label,
      detail: `would overwrite ${what} ${input} with its result; use --name or --out`,
    });
  }
  return problems;
}
