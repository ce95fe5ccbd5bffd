/** How results are named and what happens to files that exist. */
import { resolve } from 'node:path';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS, type ResultPart } from '../../protocol/kinds.ts';
import { defaultTemplate, innerTemplate } from './result-name.ts';

export interface Delivery {
  /** Absolute. */
  readonly folder: string;
  /** True where somebody has chosen the folder. */
  readonly isFolderGiven?: boolean;
  /** Empty for the default of each job's kind. */
  readonly template: string;
  readonly existing: 'refuse' | 'replace' | 'skip';
  /** True for files that only vloc reads: parts of a result, and what stages hand to each other. */
  readonly isInner?: boolean;
  /** True where the folder is only a stop on the way to stdout. */
  readonly toStdout?: boolean;
  /** For subtitles in another format than the service's own; the template names its ending. */
  readonly rewrite?: SubtitleRewrite;
}

/** Makes a subtitle file of another format out of an SRT. */
export interface SubtitleRewrite {
  /** With its dot. */
  readonly extension: string;
  readonly apply: (srt: Uint8Array) => Promise<Uint8Array>;
}

interface DeliveryIo {
  readonly cwd: string;
  /** The writer of a format by its name; none for the service's own. */
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
};

/** The delivery that the options ask for; `kind` is null where jobs of several kinds may come. */
export function readDelivery(
  kind: JobKind | null,
  options: ResultOptions,
  { cwd, rewriteSubtitle }: DeliveryIo,
): Delivery {
  const { out, name, clobber = false, skipExisting = false, subtitleFormat: format } = options;
  const template = name ?? (kind === null ? '' : defaultTemplate(kind));
  const isFolderGiven = out !== undefined;
  const rewrite = format !== undefined && givesSubtitles(kind) ? rewriteSubtitle?.(format) : undefined;
  return {
    folder: out === undefined ? cwd : resolve(cwd, out),
    isFolderGiven,
    // Results of another name are another item, so what is there as SRT stays as it is.
    template: rewrite === undefined ? template : template.replaceAll('{ext}', rewrite.extension),
    existing: clobber ? 'replace' : skipExisting ? 'skip' : 'refuse',
    ...(rewrite === undefined ? {} : { rewrite }),
  };
}

/** Whether subtitles are what the kind gives; a localization only leaves some on its way. */
export function givesSubtitles(kind: JobKind | null): boolean {
  const parts: readonly ResultPart[] = kind === null ? [] : Object.values(KINDS[kind].result);
  return parts.some(({ type }) => type === 'lines');
}
