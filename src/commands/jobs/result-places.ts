/**
 * Names the results of `jobs wait` and `jobs download` as the run that made the job would, as far as the record of this machine,
 * the job and its upload tell. --out and --name take precedence.
 */
import { basename, extname, resolve } from 'node:path';
import { Failure } from '../../base/failure.ts';
import { foldName } from '../../base/find-input.ts';
import { foundLanguage } from '../../batch/deliver/deliver-results.ts';
import { type ResultNaming, resultFiles } from '../../batch/deliver/download-results.ts';
import type { InputProblem } from '../../batch/input.ts';
import { subtitleStem } from '../../batch/inputs/check-subtitle.ts';
import { type Delivery, findClashes, type SourceSubtitle, templateFor } from '../../batch/inputs/delivery.ts';
import { sourceFieldOf } from '../../batch/inputs/field-flags.ts';
import type { JobEntry } from '../../batch/records/job-record.ts';
import { askedLanguage, assetPaths, nameLanguage, stemOfAddress } from '../../batch/result-name.ts';
import { readReference } from '../../batch/run/client-reference.ts';
import type { Client, Job } from '../../client/index.ts';
import { KINDS, type Kind, type ResultPart } from '../../protocol/kinds.ts';
import { isTerminal } from '../../protocol/states.ts';
import { SUBTITLE_FORMATS } from '../../protocol/subtitle-line.ts';
import { createSubtitleIo } from './subtitles.ts';

/** Text for the help of these commands. */
export const RESULT_NAMES_NOTE =
  'Results of jobs created on this machine get the folder, name and format of their run; --out and --name override ' +
  'these. Results of other jobs are named by the file that was sent and the language, where the service knows both. Those that ' +
  'a newer job would replace, and all others, are named by job id. INPUT is the file that the job was created from on this ' +
  'machine, else the id.';

/** Returns the folder and name for the results of a job. */
export type NamingOf = (job: Job) => ResultNaming;

/** Parts of the names of results of a job that this machine has no record of. */
type OtherName = Pick<ResultNaming, 'stem' | 'asked'>;

/**
 * @param jobs recorded on this machine, newest first
 * @param delivery as the options ask for it
 * @param others by job id, see `nameOthers`
 */
export function createNaming(
  jobs: readonly JobEntry[],
  delivery: Delivery,
  others: ReadonlyMap<string, OtherName> = new Map(),
): NamingOf {
  const entries = new Map(jobs.map((entry) => [entry.id, entry]));
  const replaced = findReplaced(jobs);
  return (job) => {
    const found = foundLanguage(job);
    const entry = entries.get(job.id);
    const naming = entry?.naming;
    if (entry === undefined || naming === undefined) {
      const name = others.get(job.id) ?? { stem: job.id, asked: askedLanguage(job.object, job.input) };
      return { ...name, found, delivery };
    }
    const stem = replaced.has(job.id) ? job.id : naming.stem;
    const root = delivery.isFolderGiven === true ? delivery.folder : (entry.output_folder ?? delivery.folder);
    const isPlaceGiven = delivery.isFolderGiven === true && delivery.template !== '';
    const folder = isPlaceGiven ? root : resolve(root, naming.folder);
    const rewrite =
      naming.format === null
        ? undefined
        : createSubtitleIo().rewriteSubtitle(naming.format, sourceOf(entry, naming));
    const keep = delivery.isAsIs === true ? undefined : naming.keep;
    const named = delivery.template || naming.template;
    const template = keep?.sound === undefined ? named : named.replaceAll('{ext}', keep.sound.extension);
    // The template of a run already has the extension of another format.
    const own =
      rewrite === undefined
        ? { template }
        : { template: template.replaceAll('{ext}', `.${rewrite.format}`), rewrite };
    return { stem, asked: naming.language, found, delivery: { ...delivery, folder, ...own }, keep };
  };
}

/**
 * Names for the results of jobs that this machine has no record of, by job id. Jobs whose results would have the same name as
 * those of a recorded or newer job have none: their id is unique.
 */
export async function nameOthers(
  jobs: readonly Job[],
  recorded: readonly JobEntry[],
  delivery: Delivery,
  client: Pick<Client, 'uploads'>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, OtherName>> {
  const own = new Set(recorded.map(({ id }) => id));
  const namingOf = createNaming(recorded, delivery);
  const taken = new Set(
    jobs.flatMap((job) => (own.has(job.id) ? possiblePaths(job, namingOf(job)).map(foldName) : [])),
  );
  const names = new Map<string, OtherName>();
  const newestFirst = jobs.toSorted(
    (one, other) => Date.parse(other.created_at) - Date.parse(one.created_at),
  );
  for (const job of newestFirst.filter(({ id }) => !own.has(id))) {
    const name = await readName(job, client, signal);
    if (name === null) continue;
    const paths = possiblePaths(job, { ...name, found: foundLanguage(job), delivery }).map(foldName);
    if (paths.some((path) => taken.has(path))) continue;
    for (const path of paths) taken.add(path);
    names.set(job.id, name);
  }
  return names;
}

/** By the reference of a batch, else by the source. Null where the result could get the name of its input. */
async function readName(
  { object, input, client_reference }: Job,
  client: Pick<Client, 'uploads'>,
  signal: AbortSignal,
): Promise<OtherName | null> {
  const given = readReference(client_reference)?.name ?? null;
  const asked = askedLanguage(object, input) ?? given?.language ?? null;
  const { fields, input: takes }: Kind = KINDS[object];
  if (asked === null && fields.target_language !== undefined) return null;
  const stem = given?.stem ?? (await readStem(input[sourceFieldOf(object)], takes, client, signal));
  return stem === null || stem === '' ? null : { stem, asked };
}

/** The stem of the file that was sent; null if the service does not tell it. */
async function readStem(
  source: unknown,
  takes: Kind['input'],
  client: Pick<Client, 'uploads'>,
  signal: AbortSignal,
): Promise<string | null> {
  const { url, upload_id: id } = Object(source) as { readonly url?: unknown; readonly upload_id?: unknown };
  const address = typeof url === 'string' ? URL.parse(url) : null;
  if (address !== null) return stemOfAddress(address);
  if (typeof id !== 'string') return null;
  try {
    const { file_name: name } = await client.uploads.get(id, { signal });
    if (name === null) return null;
    return takes === 'subtitle' ? subtitleStem(name) : basename(name, extname(name));
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}

/** The subtitles that a job has translated, if its result has their form. */
function sourceOf(
  { input_files: [path] = [] }: JobEntry,
  { format, sourceSha256: sha256 }: NonNullable<JobEntry['naming']>,
): SourceSubtitle | null {
  if (path === undefined || sha256 === undefined) return null;
  const form = SUBTITLE_FORMATS.find((each) => each === format);
  return { type: 'lines', label: path, sha256, file: { path }, ...(form === undefined ? {} : { form }) };
}

/** Ids of jobs whose results would have the same names as those of newer jobs. */
function findReplaced(jobs: readonly JobEntry[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const replaced = new Set<string>();
  for (const { id, kind, naming, output_folder: root, state } of jobs) {
    if (naming === undefined || state === 'failed' || state === 'cancelled') continue;
    const parts: readonly ResultPart[] = Object.values(KINDS[kind].result);
    const endings = parts.flatMap((part) => (part.type === 'asset' ? [part.label, part.extension] : []));
    const { keep: _, sourceSha256: __, ...named } = naming;
    const name = JSON.stringify([root, named, endings]);
    if (seen.has(name)) replaced.add(id);
    seen.add(name);
  }
  return replaced;
}

/** The files that a command writes. */
export interface Claims {
  /**
   * Claims files for a job, all or none.
   * @throws Failure (`usage`) if another job has claimed a file, or if a file would be written twice
   */
  take(job: Pick<Job, 'id'>, paths: readonly string[]): void;
}

const ADVICE = 'Make names unique with {id} or {asset} in --name, or use separate folders.';

export function createClaims(): Claims {
  const taken = new Map<string, { readonly label: string; readonly path: string }>();
  return {
    take({ id }, paths) {
      const claims = paths.map((path) => ({ label: id, path }));
      // Only similar names are compared: comparing each of ten thousand jobs with all others would be slow.
      const near = claims.flatMap(({ path }) => taken.get(foldName(path)) ?? []);
      const problems = findClashes([...new Set(near), ...claims]);
      if (problems.length > 0) throw clashingResultsFailure(problems, id);
      for (const claim of claims) taken.set(foldName(claim.path), claim);
    },
  };
}

/**
 * Refuses jobs whose results are already known to collide.
 * @throws Failure (`usage`) that names each; also for an invalid template
 */
export function checkClashes(jobs: readonly Job[], namingOf: NamingOf): void {
  const claims = jobs.flatMap((job) => knownPaths(job, namingOf).map((path) => ({ label: job.id, path })));
  const problems = findClashes(claims);
  if (problems.length > 0) throw clashingResultsFailure(problems);
}

/** @param jobId of the only job that fails; omitted if the whole command fails */
function clashingResultsFailure(problems: readonly InputProblem[], jobId?: string): Failure {
  const [first] = problems;
  const facts = { category: 'usage', code: 'RESULTS_CLASH', advice: ADVICE } as const;
  if (jobId !== undefined) {
    const message = `the result was not fetched: it ${first?.detail}`;
    return new Failure({ ...facts, message, jobId });
  }
  const count = problems.length === 1 ? 'One result' : `${problems.length} results`;
  const message = `${count} would overwrite others; nothing was downloaded`;
  return new Failure({ ...facts, message, errors: problems });
}

/** The paths that are known before the job is done; none for a failed job. */
function knownPaths(job: Job, namingOf: NamingOf): readonly string[] {
  const naming = namingOf(job);
  if (job.status === 'succeeded') return resultFiles(job, naming).map(({ path }) => path);
  if (isTerminal(job.status)) return [];
  const { delivery, asked } = naming;
  const isLater = asked === null && templateFor(delivery, job.object).includes('{lang}');
  const paths = possiblePaths(job, naming);
  return isLater ? [] : paths;
}

/** The paths as far as they are known: a language that the job will find is left out. */
function possiblePaths(
  { id, object }: Job,
  { delivery, stem, asked, found }: ResultNaming,
): readonly string[] {
  const lang = nameLanguage(object, asked, found);
  return assetPaths(object, delivery.folder, templateFor(delivery, object), { stem, lang, id });
}
