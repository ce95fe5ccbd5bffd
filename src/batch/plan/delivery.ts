/** How results are named and what happens to files that exist. */
import { join, resolve } from 'node:path';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS, type ResultPart } from '../../protocol/kinds.ts';
import { readShard, type Shard } from '../shard.ts';
import { defaultTemplate, innerTemplate } from './result-name.ts';

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
  /** True for videos as the service made them, without the tracks that their run would add. */
  readonly isAsIs?: boolean;
  /** True for files that only vloc reads: results of parts and of stages. */
  readonly isInner?: boolean;
  /** True if the folder is temporary, and the result goes to stdout. */
  readonly toStdout?: boolean;
  /** Converts subtitles to another format than SRT; the template has its extension. */
  readonly rewrite?: SubtitleRewrite;
}

/** Converts SRT to another subtitle format. */
export interface SubtitleRewrite {
  /** With its dot. */
  readonly extension: string;
  readonly apply: (srt: Uint8Array) => Promise<Uint8Array>;
}

interface DeliveryIo {
  readonly cwd: string;
  /** The writer of a format by its name; undefined for SRT, the format of the service. */
  readonly rewriteSubtitle?: (format: string) => SubtitleRewrite | undefined;
}

/** The template that names the results of a kind. */
export function templateFor(
  { template, isInner }: Pick<Delivery, 'template' | 'isInner'>,
  kind: JobKind,
): string {
  return template || (isInner === true ? innerTemplate(kind) : defaultTemplate(kind));
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
  const { out, name, clobber = false, skipExisting = false, asIs = false, subtitleFormat: format } = options;
  const template = name ?? (kind === null ? '' : defaultTemplate(kind));
  const isFolderGiven = out !== undefined;
  const rewrite = format !== undefined && givesSubtitles(kind) ? rewriteSubtitle?.(format) : undefined;
  return {
    folder: out === undefined ? cwd : resolve(cwd, out),
    ...(options.shard === undefined ? {} : { shard: readShard(options.shard) }),
    isFolderGiven,
    // A result with another name is another item, so an existing SRT is kept.
    template: rewrite === undefined ? template : template.replaceAll('{ext}', rewrite.extension),
    existing: clobber ? 'replace' : skipExisting ? 'skip' : 'refuse',
    ...(rewrite === undefined ? {} : { rewrite }),
    ...(asIs ? { isAsIs: true } : {}),
  };
}

/** The delivery of an item: below the folder for results, in the same subfolder as its input. */
export function deliveryOf(delivery: Delivery, { folder }: { readonly folder: string }): Delivery {
  return folder === '' ? delivery : { ...delivery, folder: join(delivery.folder, folder) };
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
