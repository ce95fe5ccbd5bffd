/** The jobs of the HTML report, from the journal. */
import { basename, resolve } from 'node:path';
import { ERROR_CODES } from '../../protocol/error-codes.ts';
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { isStageKey } from '../inputs/stage-items.ts';
import { describeLosses, type ItemCue } from '../item-provenance.ts';
import type { ItemFacts } from '../records/item-facts.ts';
import { isSampleKey, SAMPLE_SUFFIX, wholeName } from '../records/item-key.ts';
import type { StageRecords, WrittenSubtitle } from '../records/stage-records.ts';
import type { BatchFacts } from './batch-facts.ts';
import { type ItemReport, type ReportError, type ReportState, readItemKey } from './item-report.ts';
import type { OwnedText, PagePlace, TextOwner } from './page-attention.ts';
import type { EntryState, ReportFailure, ReportJob, ReportSubtitle } from './page-facts.ts';
import type { Loudness } from './speech-fit.ts';

/** The state as shown on the page, and the reason if it is not finished. */
const STATES: Readonly<
  Record<ReportState, { readonly state: EntryState; readonly waitsFor: string | null }>
> = {
  done: { state: 'done', waitsFor: null },
  undelivered: { state: 'unfinished', waitsFor: 'result not fetched yet' },
  running: { state: 'unfinished', waitsFor: 'still running' },
  unanswered: { state: 'unfinished', waitsFor: 'no answer to the request yet' },
  waiting: { state: 'unfinished', waitsFor: 'not started' },
  refused: { state: 'failed', waitsFor: null },
  failed: { state: 'failed', waitsFor: null },
  cancelled: { state: 'failed', waitsFor: null },
  expired: { state: 'failed', waitsFor: null },
};

/** Records of the journal besides those of requests. */
interface JobSources {
  /** By key of the item. */
  readonly items: ReadonlyMap<string, ItemFacts>;
  readonly stages: StageRecords;
  /** Folder of the results, absolute. */
  readonly folder: string;
}

export function pageJobs(facts: Pick<BatchFacts, 'items'>, sources: JobSources): PageJob[] {
  return facts.items.map((item) => pageJob(item, sources));
}

function pageJob(item: ItemReport, { items, stages, folder }: JobSources): PageJob {
  const facts = items.get(item.key);
  const { state, waitsFor } = STATES[item.state];
  const { client_reference: reference, ...fields } = facts?.fields ?? {};
  return {
    owner: { key: item.key, folder },
    kind: item.kind,
    state,
    job_id: item.job_id,
    request_ids: item.error?.request_id == null ? [] : [item.error.request_id],
    client_reference: typeof reference === 'string' ? reference : null,
    options: plainOptions(fields),
    credits: item.credits,
    is_free: item.is_free,
    units: item.units,
    created_at: item.created_at,
    finished_at: item.finished_at,
    failure: item.error === null ? null : describeFailure(item.error),
    waits_for: waitsFor,
    engines: item.provenance?.engines ?? [],
    input_name: nameInput(item),
    input_path: facts?.path ?? null,
    target_language: item.target_language,
    subtitles: stageSubtitles(item, stages, folder),
    files: namedFiles(item),
    cues: item.provenance?.cues ?? [],
    losses: item.provenance === undefined ? [] : describeLosses(item.provenance, (path) => basename(path)),
  };
}

/** The name of the input; that of a sample is marked, so that it is another input than the whole. */
function nameInput({ key, label }: ItemReport): string {
  const name = readItemKey(key)?.name ?? label;
  return isSampleKey(key) ? `${wholeName(name)}${SAMPLE_SUFFIX}` : name;
}

/** The page shows the language elsewhere, and callback addresses are private. */
const SHOWN_ELSEWHERE = new Set(['target_language', 'callback_url']);

function plainOptions(fields: Readonly<Record<string, unknown>>): PageJob['options'] {
  const options: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(fields)) {
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    if (isPlain && !SHOWN_ELSEWHERE.has(name)) options[name] = value;
  }
  return options;
}

function describeFailure({ code, message, retryable }: ReportError): ReportFailure {
  const known = Object.entries(ERROR_CODES).find(([name]) => name === code)?.[1];
  return { code, message, retryable, advice: known?.advice ?? null };
}

/** The page shows only files that the kind defines. */
function namedFiles({ files }: ItemReport): PageFile[] {
  return files.flatMap(({ asset, ...file }) => (asset === null ? [] : [{ asset, ...file }]));
}

/**
 * The subtitles of an item of a localization in stages: they are beside the video, for users to edit, and not files of a job.
 * None for other items.
 * @param folder of the results, absolute
 */
function stageSubtitles(
  { key, kind, state, target_language: language }: ItemReport,
  { subtitles, finished }: StageRecords,
  folder: string,
): readonly PageSubtitle[] {
  const files = [...subtitles.values()];
  if (kind === 'auto_localization' && state === 'done') {
    const made = finished.get(key);
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
    // A sample may have been made from the subtitles of the whole, which were edited since.
    const isOwn = (path: string) =>
      !isSampleKey(key) || subtitles.get(path)?.video === readItemKey(key)?.name;
    return [heard, spoken].flatMap(({ path, ...rest }) =>
      path === null || !isOwn(path) ? [] : [{ ...rest, path: resolve(folder, path) }],
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

function languageOf(path: string | null | undefined, files: readonly WrittenSubtitle[]): string | null {
  const file = files.find((each) => each.path === path);
  return file === undefined ? null : known(file.language);
}

/** `und` means unknown. */
function known(language: string): string | null {
  return language === 'und' ? null : language;
}

/** @param language null for any */
function speaks(file: WrittenSubtitle, language: string | null): boolean {
  return language === null || canonicalLanguage(file.language) === canonicalLanguage(language);
}

export interface PageJob extends ReportJob {
  readonly owner: TextOwner;
  /** Path of the input below its root, its address, or the id of its upload. */
  readonly input_name: string;
  /** Absolute; null for an input that is not a file on this machine. */
  readonly input_path: string | null;
  readonly target_language: string | null;
  /** Its subtitles besides those that it has read and written. */
  readonly subtitles: readonly PageSubtitle[];
  readonly files: readonly PageFile[];
  /** Cues that were made to fit. */
  readonly cues: readonly ItemCue[];
  /** Lost terms with their places, in words. */
  readonly losses: readonly string[];
}

export interface PageFile {
  /** Name of the part of the result, such as `video`. */
  readonly asset: string;
  /** Absolute. */
  readonly path: string;
  readonly bytes: number | null;
  readonly sha256: string | null;
}

/** A subtitle file on this machine, of any format. */
interface PageSubtitle {
  readonly role: ReportSubtitle['role'];
  readonly language: string | null;
  /** Absolute. */
  readonly path: string;
  /** Digest of the lines that the video speaks, see `digestLines`; null if unknown. */
  readonly spoken: string | null;
}

export interface PageSource {
  readonly title: string;
  readonly madeAt: string;
  /** Notices that the licences of the models demand that made the results. */
  readonly attributions?: readonly string[];
  /** The path of a file from the page, see `pathFrom`; null for a track that its readers do not have. */
  readonly pathOf: PathOf;
  readonly jobs: readonly PageJob[];
  /** The cues that need a person, the most reasons first. */
  readonly attention?: readonly PagePlace[];
  /** Null for a page that is read elsewhere. */
  readonly commands: PageCommands | null;
}

export type PathOf = (file: string) => string | null;

/** Commands for this machine. */
interface PageCommands {
  /** Makes again what depends on a text; null if it is not known. */
  readonly afterEdit: (text: OwnedText) => string | null;
  /** The folder for it, absolute. */
  readonly runIn: string;
}

export interface Sound {
  readonly durationMs: number;
  /** 0 to 255. */
  readonly peaks: Uint8Array;
  readonly loudness: Loudness;
}

/** Functions that read media. If one throws, the page shows the file without its content. */
export interface MediaReaders {
  readonly outlineSound: (path: string) => Promise<Sound>;
  /** Reads a subtitle file of any format. */
  readonly readSubtitleFile: (path: string) => Promise<readonly SubtitleLine[]>;
  /** Reads the subtitles inside a video; empty if there are none. */
  readonly readSoftSubtitles: (path: string) => Promise<readonly SubtitleLine[]>;
}

/** An input with its jobs, including those made from results of other jobs. */
export interface JobGroup {
  readonly name: string;
  /** Absolute; null for an input that is not a file on this machine. */
  readonly path: string | null;
  readonly language: string | null;
  /** See `ReportEntry`. */
  readonly variant: string | null;
  readonly jobs: readonly PageJob[];
}

interface Origin {
  readonly name: string;
  readonly path: string | null;
}

/**
 * Groups jobs by input, language and options. A job made from the result of another (a dub of a translation of a recognition) belongs to
 * the input of the first; a job made from lines, to the file with the name of its input; a job without a language (a
 * separation), to every language of its input. Two jobs of one kind from the same input are results to choose from: each
 * has a group of its own, with the jobs that it was made from or that were made from it, and those that concern all.
 */
export function groupJobs(jobs: readonly PageJob[]): JobGroup[] {
  const producers = new Map(jobs.flatMap((job) => job.files.map(({ path }) => [path, job] as const)));
  const paths = new Map(
    jobs.flatMap(({ input_name, input_path }) =>
      input_path === null ? [] : [[input_name, input_path] as const],
    ),
  );
  const families = new Map<string, { origin: Origin; jobs: PageJob[] }>();
  for (const job of jobs) {
    const found = findOrigin(job, producers);
    const origin = { ...found, path: found.path ?? paths.get(found.name) ?? null };
    const key = JSON.stringify([origin.path ?? origin.name, wholeName(origin.name) !== origin.name]);
    const family = families.get(key) ?? { origin, jobs: [] };
    family.jobs.push(job);
    families.set(key, family);
  }
  return [...families.values()]
    .flatMap((family) => splitByLanguage(family.origin, family.jobs))
    .flatMap((group) => splitByOptions(group, producers));
}

function findOrigin(job: PageJob, producers: Producers): Origin {
  const first = findSources(job, producers).at(-1) ?? job;
  return { name: first.input_name, path: first.input_path };
}

type Producers = ReadonlyMap<string, PageJob>;
type WholeGroup = Omit<JobGroup, 'variant'>;

function splitByOptions(group: WholeGroup, producers: Producers): JobGroup[] {
  const { jobs } = group;
  const alike = Map.groupBy(jobs, ({ kind, input_name, input_path }) =>
    JSON.stringify([kind, input_path ?? input_name]),
  );
  const choices = [...alike.values()].filter(({ length }) => length > 1);
  const among = new Set(choices.flat());
  const sourcesOf = new Map(jobs.map((job) => [job, new Set(findSources(job, producers))]));
  const isMadeFrom = (job: PageJob, source: PageJob) => sourcesOf.get(job)?.has(source) === true;
  const last = [...among].filter((job) => ![...among].some((later) => isMadeFrom(later, job)));
  if (last.length === 0) return [{ ...group, variant: null }];
  return last.map((chosen) => {
    const isOther = (job: PageJob) =>
      job !== chosen && among.has(job) && !isMadeFrom(chosen, job) && !isMadeFrom(job, chosen);
    const others = jobs.filter(isOther);
    const own = jobs.filter((job) => !isOther(job) && !others.some((other) => isMadeFrom(job, other)));
    const rivals = choices.find((each) => each.includes(chosen)) ?? [];
    return { ...group, jobs: own, variant: describeVariant(chosen, rivals) };
  });
}

/** The jobs whose results a job was made from. */
function findSources(job: PageJob, producers: Producers): readonly PageJob[] {
  const found: PageJob[] = [];
  let producer = producers.get(job.input_path ?? '');
  // A journal assembled from others could contain a cycle.
  while (producer !== undefined && producer !== job && !found.includes(producer)) {
    found.push(producer);
    producer = producers.get(producer.input_path ?? '');
  }
  return found;
}

/** The options in which it differs from the others, else the name of its file, else the id of its job. */
function describeVariant({ options, files, job_id }: PageJob, rivals: readonly PageJob[]): string | null {
  const names = [...new Set(rivals.flatMap((job) => Object.keys(job.options)))].toSorted();
  const different = names.filter((name) => new Set(rivals.map((job) => job.options[name])).size > 1);
  const words = different.map((name) => `${name} ${options[name] ?? 'default'}`);
  return words.length > 0 ? words.join(', ') : (nameOf(files[0]) ?? job_id);
}

function nameOf(file: PageFile | undefined): string | null {
  return file === undefined ? null : basename(file.path);
}

function splitByLanguage(origin: Origin, jobs: readonly PageJob[]): WholeGroup[] {
  const languages = new Set(jobs.map((job) => job.target_language).filter((language) => language !== null));
  if (languages.size === 0) return [{ ...origin, language: null, jobs }];
  return [...languages].map((language) => ({
    ...origin,
    language,
    jobs: jobs.filter((job) => job.target_language === null || job.target_language === language),
  }));
}

/** The state that needs the most attention. */
export function worstState(jobs: readonly { readonly state: EntryState }[]): EntryState {
  if (jobs.some(({ state }) => state === 'failed')) return 'failed';
  return jobs.some(({ state }) => state === 'unfinished') ? 'unfinished' : 'done';
}
