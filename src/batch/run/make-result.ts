/** Makes a result on this machine, of the results of jobs or of a file. It gets its name when it is complete. */
import { randomUUID } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { makeFolder } from '../../base/folder.ts';
import { KINDS, type ResultPart } from '../../protocol/kinds.ts';
import { type Output, type OutputRows, publish, rowsIn } from '../deliver/publish.ts';
import { type AddTracks, addKept, findVersion } from '../deliver/result-file.ts';
import { isCopied } from '../input.ts';
import {
  type Delivery,
  deliveryOf,
  languageOfItem,
  type SubtitleRewrite,
  templateFor,
} from '../inputs/delivery.ts';
import { keptResult, markOf } from '../inputs/items.ts';
import type { BatchItem, ItemFile } from '../item.ts';
import { combineParts, type ItemProvenance } from '../item-provenance.ts';
import { nameWork } from '../kept-tracks.ts';
import type { JoinedFile, PreparationWork } from '../preparation.ts';
import { createAttempt, storeFiles } from '../records/attempts.ts';
import type { BatchRecord } from '../records/batch-records.ts';
import { createItemFacts } from '../records/item-facts.ts';
import { JOINED, newestAttempt } from '../records/item-key.ts';
import { NO_LANGUAGE, nameLanguage, resultPath, withoutUnknown } from '../result-name.ts';
import { missingRecords } from './check-translation.ts';
import { addTracks } from './deliver-item.ts';
import { hashInput } from './known-uploads.ts';
import { partsFolder } from './parts.ts';
import { rememberResult } from './remember.ts';
import { formatTimestamp, type Run } from './run.ts';
import type { JobResult, Made } from './step.ts';
import { digestRequest } from './submit.ts';

/** A file of the result. */
interface Target {
  readonly asset: string;
  readonly label: string;
  readonly path: string;
}

/** What a result is made of, and how. */
export interface Ingredients {
  /** See `digestMaking`. */
  readonly made: string;
  /** SHA-256 of the input of the item, lower-case hex. */
  readonly sha256: string;
  /** The items of the jobs, and their results. */
  readonly items: readonly BatchItem[];
  readonly results: readonly JobResult[];
  /** Makes the files in an empty folder. @throws Failure, the reason of the signal */
  readonly make: (work: PreparationWork) => Promise<readonly JoinedFile[]>;
  /** Of the whole, if that of the jobs does not say all of it; null if the service does not say it. */
  readonly provenance?: ItemProvenance | null;
}

/**
 * Makes the result, names the files and records them, unless an earlier run has.
 * @throws Failure; making it again needs no new job
 */
export async function makeResult(run: Run, item: BatchItem, making: Ingredients): Promise<Made> {
  const { journal, batch, inputs } = run;
  const { made, items, results, provenance = provenanceOf(run, items) } = making;
  const targets = targetsOf(batch.delivery, item, results);
  const rows = rowsIn(journal, { item: item.key, step: 'result' }, { made });
  const folder = partsFolder(batch.delivery, item, made);
  const before = await findMade(item, made, targets, rows);
  const outputs = before ?? (await makeAnew(run, item, making, { targets, folder }));
  const stored = outputs.map(({ file }) => file);
  const files = stored.map(({ asset = '', path, size, sha256, kept }) => ({
    ...{ asset, path, bytes: size, sha256, kept },
  }));
  const overwrite = deliveryOf(batch.delivery, item).existing === 'replace';
  await publish(outputs, { rows, overwrite, findInput: inputs.find }, async () => {
    await rememberResult(run, item, files);
    await journal.add(rows.placed(stored), ...(await madeRecords(run, item, making, files)));
  });
  // The results are complete and recorded, so the parts are no longer needed.
  await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  return {
    ...{
      phase: 'done',
      jobId: results[0]?.jobId || null,
      files,
      before: null,
      credits: creditsOf(run, items),
    },
    ...(items.length + results.length === 0 ? {} : { provenance }),
  };
}

/** The cost of all jobs of parts; null if the cost of one is unknown. */
function creditsOf({ journal: { attempts } }: Run, parts: readonly BatchItem[]): number | null {
  const charged = parts.flatMap(({ key }) => newestAttempt(key, attempts)?.charged ?? []);
  if (charged.length < parts.length) return null;
  // Sums of thousandths are exact.
  return charged.reduce((sum, credits) => sum + Math.round(credits * 1000), 0) / 1000;
}

/** How the jobs of parts made their results, also those of earlier runs. */
function provenanceOf({ journal }: Run, parts: readonly BatchItem[]): ItemProvenance | null {
  return combineParts(parts.map(({ key }) => madeBy(journal, key)));
}

/** How the newest job of an item or a part made its result; null if that is not known. */
export function madeBy({ attempts, provenances }: Run['journal'], key: string): ItemProvenance | null {
  return provenances.get(attempts.byItem.get(key)?.at(-1) ?? '') ?? null;
}

function assetsOf({ kind }: BatchItem): (ResultPart & { type: 'asset'; name: string })[] {
  const parts: [string, ResultPart][] = Object.entries(KINDS[kind].result);
  return parts.flatMap(([name, part]) => (part.type === 'asset' ? [{ ...part, name }] : []));
}

function targetsOf(delivery: Delivery, item: BatchItem, results: readonly JobResult[]): Target[] {
  const [first] = results;
  const own = deliveryOf(delivery, item);
  const asked = languageOfItem(item);
  const found = languageOf(first);
  return assetsOf(item).map(({ name, label, extension }) => ({
    asset: name,
    label,
    path: resultPath(own.folder, withoutUnknown(templateFor(own, item.kind), asked, found), {
      stem: item.input.stem,
      lang: nameLanguage(item.kind, asked, found),
      asset: label,
      id: first?.jobId ?? '',
      ext: extension,
    }),
  }));
}

/** A detected language is read from the name of the result of a part. */
function languageOf(part: JobResult | undefined): string | null {
  const name = basename(part?.files[0]?.path ?? '');
  const language = /^part\d+of\d+\.[^.]+\.(.+)\.\w+$/.exec(name)?.[1] ?? NO_LANGUAGE;
  return language === NO_LANGUAGE ? null : language;
}

/** The results of an earlier run that was killed after naming them; null if any is missing. */
async function findMade(
  item: BatchItem,
  made: string,
  targets: readonly Target[],
  rows: OutputRows,
): Promise<readonly Output[] | null> {
  const outputs: Output[] = [];
  const kept = nameWork(keptResult(item));
  for (const { path } of targets) {
    const versions = (await rows.find(path)).filter((row) => row.made === made && row.kept === kept);
    const file = await findVersion(path, versions);
    if (file === null) return null;
    outputs.push({ from: null, file });
  }
  return outputs;
}

interface Places {
  readonly targets: readonly Target[];
  readonly folder: string;
}

async function makeAnew(
  run: Run,
  item: BatchItem,
  { make, items, provenance = provenanceOf(run, items) }: Ingredients,
  { targets, folder }: Places,
): Promise<readonly Output[]> {
  const { batch } = run;
  const work = join(folder, 'joined');
  await rm(work, { recursive: true, force: true });
  await makeFolder(work, 0o700);
  const report = (fraction: number) => run.tell(item, { phase: 'preparing', doing: 'joining', fraction });
  report(0);
  const joined = await make({ signal: batch.signal, folder: work, report });
  for (const note of joined.flatMap(({ notes }) => notes)) batch.warn(`${item.label}: ${note}`);
  const own = deliveryOf(batch.delivery, item);
  await rewriteJoined(joined, own.rewrite);
  const finished = await finishVideo(run, item, { joined, provenance }, work);
  return Promise.all(
    targets.map((target) => measure(target, finished, nameWork(keptResult(item)), batch.signal)),
  );
}

/** Adds the tracks that the item keeps to the video, and marks it. */
async function finishVideo(
  run: Run,
  item: BatchItem,
  {
    joined,
    provenance,
  }: { readonly joined: readonly JoinedFile[]; readonly provenance: ItemProvenance | null },
  folder: string,
): Promise<readonly JoinedFile[]> {
  const video = joined.find(({ label }) => label === 'video');
  if (video === undefined || isCopied(item.input)) return joined;
  const keep = { mark: markOf(item), ...keptResult(item) };
  const add: AddTracks = (task, work) => addTracks(run, item, { task, made: provenance }, work);
  const path = await addKept(video.path, keep, add, { signal: run.batch.signal, folder });
  return joined.map((file) => (file === video ? { ...file, path } : file));
}

/** The files of a result of a job, by label of the asset. */
export function byLabel(item: BatchItem, files: readonly ItemFile[]): Record<string, string> {
  const labels = new Map(assetsOf(item).map(({ name, label }) => [name, label]));
  return Object.fromEntries(files.map(({ asset, path }) => [labels.get(asset) ?? asset, path]));
}

async function measure(
  { asset, label, path }: Target,
  joined: readonly JoinedFile[],
  kept: string | undefined,
  signal: AbortSignal,
): Promise<Output> {
  const from = joined.find((each) => each.label === label)?.path;
  if (from === undefined) throw new TypeError(`nothing was made for ${label}`);
  const [{ size }, sha256] = await Promise.all([stat(from), hashInput(from, signal)]);
  return { from, file: { asset, path, size, sha256, kept } };
}

/** Records the item like a job that was delivered, so that later runs and reports consider it done. */
async function madeRecords(
  run: Run,
  item: BatchItem,
  { sha256, made, results, provenance = null }: Ingredients,
  files: readonly ItemFile[],
): Promise<BatchRecord[]> {
  const { kind } = item;
  const key = `${JOINED}${randomUUID()}`;
  const at = formatTimestamp(run);
  const attempt = createAttempt({
    key,
    asked_at: at,
    kind,
    item: item.key,
    // It is never sent, unlike the requests of the parts.
    body_sha256: digestRequest({ made }),
    request: { ...item.fields },
    input_sha256: sha256,
    is_free: false,
  });
  const [first] = results;
  const fetched = {
    type: 'downloaded',
    key,
    at,
    job_id: first?.jobId ?? key,
    files: storeFiles(files),
    language: languageOf(first),
  } as const;
  const missing = await missingRecords(run, item, key, files, provenance);
  const noted = provenance === null ? [] : [{ type: 'made', key, provenance } as const];
  return [createItemFacts(item, sha256), attempt, fetched, ...(missing.length > 0 ? missing : noted)];
}

/** Converts subtitles in place into the format that the user asked for. */
async function rewriteJoined(
  files: readonly { readonly label: string; readonly path: string }[],
  rewrite: SubtitleRewrite | undefined,
): Promise<void> {
  if (rewrite === undefined) return;
  for (const { label, path } of files) {
    if (label === 'subtitle') await writeFile(path, await rewrite.apply(await readFile(path)));
  }
}
