/** Joins the results of the parts of an item. A joined file gets its name when it is complete. */
import { hash, randomUUID } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { makeFolder } from '../../base/folder.ts';
import { KINDS, type ResultPart } from '../../protocol/kinds.ts';
import { type AddTracks, addKept, isAnyOf, isSameFile, placeFile } from '../deliver/result-file.ts';
import type { BatchItem, ItemFile } from '../item.ts';
import {
  type Delivery,
  deliveryOf,
  languageOfItem,
  type SubtitleRewrite,
  templateFor,
} from '../plan/delivery.ts';
import { createItemFacts, trackOf } from '../plan/facts.ts';
import type { LinesPart } from '../plan/input.ts';
import {
  digestLinesMaking,
  digestMaking,
  downloadedFiles,
  JOINED,
  newestIntent,
  partKey,
} from '../plan/item-key.ts';
import { fileUnits, keptResult, unitsOf } from '../plan/items.ts';
import { digestOptions } from '../plan/requests.ts';
import { NO_LANGUAGE, nameLanguage, resultPath } from '../plan/result-name.ts';
import type { JoinedFile, JoinTask } from '../preparation.ts';
import { recordFolder } from '../record-folder.ts';
import type { BatchRecord } from '../records/batch-records.ts';
import { createIntent, storeFiles } from '../records/intents.ts';
import type { ItemProvenance } from '../report/provenance.ts';
import { shortDigest } from '../short-digest.ts';
import { missingRecords } from './check-translation.ts';
import { addTracks } from './deliver-item.ts';
import { hashInput } from './known-uploads.ts';
import type { PreparedSource } from './preparations.ts';
import { rememberResult } from './remember.ts';
import { formatTimestamp, type Run } from './run.ts';
import { digestRequest } from './submit.ts';

/** The result of a part. */
export interface PartResult {
  readonly jobId: string;
  readonly files: readonly ItemFile[];
}

/** A file of the joined result. */
interface Target {
  readonly asset: string;
  readonly label: string;
  readonly path: string;
}

/** The delivery of parts: into a private folder until they are joined. A detected language is read from their names. */
export function partDelivery(folder: string): Delivery {
  return { folder: join(folder, 'results'), template: '', isInner: true, existing: 'replace' };
}

function languageOf(part: PartResult | undefined): string | null {
  const name = basename(part?.files[0]?.path ?? '');
  const language = /^part\d+of\d+\.[^.]+\.(.+)\.\w+$/.exec(name)?.[1] ?? NO_LANGUAGE;
  return language === NO_LANGUAGE ? null : language;
}

/**
 * Joins the results, names the files and records them.
 * @param folder of the parts of this item
 * @param provenance of the whole, if that of its parts does not say all of it
 * @throws Failure; joining again needs no new job
 */
export async function joinResults(
  run: Run,
  item: BatchItem,
  parts: SplitItem,
  results: readonly PartResult[],
  folder: string,
  provenance: ItemProvenance | null = null,
): Promise<readonly ItemFile[]> {
  const targets = targetsOf(run.batch.delivery, item, results);
  const before = await findJoined(run, item, parts, targets);
  const files = before ?? (await joinAnew(run, item, parts, results, { targets, folder }));
  await rememberResult(run, item, files);
  await run.journal.add(...(await joinedRecords(run, item, parts, { results, files, provenance })));
  // The results are complete and recorded, so the parts are no longer needed.
  await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  return files;
}

function assetsOf({ kind }: BatchItem): (ResultPart & { type: 'asset'; name: string })[] {
  const parts: [string, ResultPart][] = Object.entries(KINDS[kind].result);
  return parts.flatMap(([name, part]) => (part.type === 'asset' ? [{ ...part, name }] : []));
}

function targetsOf(delivery: Delivery, item: BatchItem, results: readonly PartResult[]): Target[] {
  const [first] = results;
  const own = deliveryOf(delivery, item);
  return assetsOf(item).map(({ name, label, extension }) => ({
    asset: name,
    label,
    path: resultPath(own.folder, templateFor(own, item.kind), {
      stem: item.input.stem,
      lang: nameLanguage(item.kind, languageOfItem(item), languageOf(first)),
      asset: label,
      id: first?.jobId ?? '',
      ext: extension,
    }),
  }));
}

/** The results of an earlier run that was killed after naming them; null if any is missing. */
async function findJoined(
  run: Run,
  item: BatchItem,
  { made }: SplitItem,
  targets: readonly Target[],
): Promise<readonly ItemFile[] | null> {
  const known = run.journal.joined.get(item.key);
  // They were never joined from these parts.
  if (known?.made !== made) return null;
  const files: ItemFile[] = [];
  for (const { asset, path } of targets) {
    const file = known.files.find((each) => each.path === path);
    const bytes = file?.size ?? 0;
    if (file === undefined || file.kept !== item.keep) return null;
    if (!(await isSameFile(path, { bytes, sha256: file.sha256 }))) return null;
    files.push({ asset, path, bytes, sha256: file.sha256, kept: file.kept });
  }
  return files;
}

interface Places {
  readonly targets: readonly Target[];
  readonly folder: string;
}

async function joinAnew(
  run: Run,
  item: BatchItem,
  { whole, made }: SplitItem,
  results: readonly PartResult[],
  { targets, folder }: Places,
): Promise<readonly ItemFile[]> {
  const { batch } = run;
  const ours = await oursAmong(run, item, made, targets);
  const work = join(folder, 'joined');
  await rm(work, { recursive: true, force: true });
  await makeFolder(work, 0o700);
  const report = (fraction: number) => run.tell(item, { phase: 'preparing', doing: 'joining', fraction });
  report(0);
  const parts = results.map(({ files }) => byLabel(item, files));
  const task = { kind: item.kind, parts, whole };
  const joined = await batch.preparation.join(task, { signal: batch.signal, folder: work, report });
  for (const note of joined.flatMap(({ notes }) => notes)) batch.warn(`${item.label}: ${note}`);
  await rewriteJoined(joined, deliveryOf(batch.delivery, item).rewrite);
  const finished = await keepTracks(run, item, joined, work);
  const measured = await Promise.all(targets.map((target) => measure(target, finished, batch.signal)));
  const files = measured.map(({ from, file }) => ({ from, file: { ...file, kept: item.keep } }));
  await run.journal.add({
    type: 'joining',
    item: item.key,
    made,
    files: storeFiles(files.map(({ file }) => file)),
  });
  for (const { from, file } of files) {
    const overwrite = batch.delivery.existing === 'replace' || ours.has(file.path);
    await placeFile(from, file.path, overwrite, run.inputs.find);
  }
  return files.map(({ file }) => file);
}

/** Adds the tracks that the item keeps to the joined video. */
async function keepTracks(
  run: Run,
  item: BatchItem,
  joined: readonly JoinedFile[],
  folder: string,
): Promise<readonly JoinedFile[]> {
  const keep = keptResult(item);
  const video = joined.find(({ label }) => label === 'video');
  if (keep === undefined || video === undefined) return joined;
  const add: AddTracks = (task, work) => addTracks(run, item, task, work);
  const path = await addKept(video.path, keep, add, { signal: run.batch.signal, folder });
  return joined.map((file) => (file === video ? { ...file, path } : file));
}

function byLabel(item: BatchItem, files: readonly ItemFile[]): Record<string, string> {
  const labels = new Map(assetsOf(item).map(({ name, label }) => [name, label]));
  return Object.fromEntries(files.map(({ asset, path }) => [labels.get(asset) ?? asset, path]));
}

async function measure({ asset, label, path }: Target, joined: readonly JoinedFile[], signal: AbortSignal) {
  const from = joined.find((each) => each.label === label)?.path;
  if (from === undefined) throw new TypeError(`nothing was joined for ${label}`);
  const [{ size }, sha256] = await Promise.all([stat(from), hashInput(from, signal)]);
  return { from, file: { asset, path, bytes: size, sha256 } };
}

/** Existing files that an earlier run has joined: they may be replaced, unlike other files. */
async function oursAmong(
  run: Run,
  item: BatchItem,
  made: string,
  targets: readonly Target[],
): Promise<ReadonlySet<string>> {
  const known = run.journal.joined.get(item.key);
  const ours = new Set<string>();
  for (const { path, size, sha256 } of known?.made === made ? known.files : []) {
    const isTarget = targets.some((target) => target.path === path);
    if (isTarget && (await isSameFile(path, { bytes: size, sha256 }))) ours.add(path);
  }
  const earlier = downloadedFiles(item.key, run.journal.intents);
  for (const { path } of targets) if (await isAnyOf(path, earlier)) ours.add(path);
  return ours;
}

interface JoinedResult {
  readonly results: readonly PartResult[];
  readonly files: readonly ItemFile[];
  readonly provenance: ItemProvenance | null;
}

/** Records the item like a job that was delivered, so that later runs and reports consider it done. */
async function joinedRecords(
  run: Run,
  item: BatchItem,
  { sha256, made }: SplitItem,
  { results, files, provenance }: JoinedResult,
): Promise<BatchRecord[]> {
  const { kind } = item;
  const key = `${JOINED}${randomUUID()}`;
  const at = formatTimestamp(run);
  const intent = createIntent({
    key,
    at,
    kind,
    item: item.key,
    // It is never sent, unlike the requests of the parts.
    body_sha256: digestRequest({ made }),
    params: { ...item.fields },
    input_sha256: sha256,
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
  return [createItemFacts(item, sha256), intent, fetched, ...(missing.length > 0 ? missing : noted)];
}

/** Converts joined subtitles in place into the format that the user asked for. */
async function rewriteJoined(
  files: readonly { readonly label: string; readonly path: string }[],
  rewrite: SubtitleRewrite | undefined,
): Promise<void> {
  if (rewrite === undefined) return;
  for (const { label, path } of files) {
    if (label === 'subtitle') await writeFile(path, await rewrite.apply(await readFile(path)));
  }
}

/** An item that was cut into parts. */
export interface SplitItem {
  /** See `digestMaking`. */
  readonly made: string;
  readonly items: readonly BatchItem[];
  /** Information for joining. */
  readonly whole: JoinTask['whole'];
  /** SHA-256 of the whole input, lower-case hex. */
  readonly sha256: string;
}

/** The parts of a video, as they were cut. @param path of the whole */
export function partsOfVideo(
  item: BatchItem,
  path: string,
  { sha256, files, split }: PreparedSource,
): SplitItem {
  const made = digestMaking([sha256, item.optionsDigest, trackOf(item), split]);
  const items = files.map((file, place) => {
    const named = namePart(item, place + 1, files.length, made);
    const input = {
      ...named.input,
      type: 'file',
      path: file.path,
      bytes: file.bytes,
      mtimeMs: 0,
      contentType: 'video/mp4',
      seconds: file.seconds,
      preparation: null,
    } as const;
    return { ...named.item, input, units: fileUnits(item.kind, file.seconds) };
  });
  return { made, items, whole: { type: 'video', split, source: path }, sha256 };
}

/**
 * Records the facts of an item before its first part is sent. Those of a changed source are recorded with its result: earlier, the
 * result of the old source would pass for its own.
 */
export async function recordFirstFacts({ journal }: Run, item: BatchItem, sha256: string): Promise<void> {
  if (newestIntent(item.key, journal.intents) === null) await journal.add(createItemFacts(item, sha256));
}

/** The private folder of the parts of an item. Two items may have the same bytes, so their keys are in its name. */
export function partsFolder(run: Run, item: BatchItem, made: string): string {
  return join(recordFolder(run.batch.delivery), 'parts', `${made}-${shortDigest(item.key)}`);
}

/** The parts of subtitles. */
export function partsOfLines(item: BatchItem, parts: readonly LinesPart[], sha256: string): SplitItem {
  const offsetsMs = parts.map(({ offsetMs }) => offsetMs);
  const made = digestLinesMaking(sha256, item, offsetsMs);
  const items = parts.map(({ lines, voice }, place) => {
    const named = namePart(item, place + 1, parts.length, made);
    const own = hash('sha256', JSON.stringify(lines));
    const input = { ...named.input, type: 'lines', lines, sha256: own, file: null, parts: null } as const;
    return { ...withVoice(named.item, voice), input, units: unitsOf(item.kind, input) };
  });
  const ends = parts.map(
    ({ offsetMs, lines }) => offsetMs + Math.max(0, ...lines.map((line) => line.end_ms)),
  );
  const endMs = Math.max(0, ...ends);
  return { made, items, whole: { type: 'lines', offsetsMs, endMs }, sha256 };
}

/** The part with the voice of its lines in its request. */
function withVoice(item: ReturnType<typeof namePart>['item'], voice: LinesPart['voice']) {
  if (voice === undefined) return item;
  const { voices: _, ...rest } = item.fields;
  const fields = voice.mode === null ? rest : { ...rest, voice_mode: voice.mode };
  const part = { ...item.part, speaker: voice.speaker };
  return { ...item, part, fields, optionsDigest: digestOptions(item.kind, fields) };
}

function namePart(item: BatchItem, number: number, count: number, made: string) {
  const place = `part ${number} of ${count}`;
  return {
    item: {
      ...item,
      key: partKey(item.key, { part: number, of: count, made }),
      label: `${item.label} (${place})`,
      folder: '',
      // They are added to the joined video.
      keep: undefined,
      part: { of: item, number, count },
    },
    input: {
      label: `${item.input.label} (${place})`,
      stem: `part${number}of${count}`,
      name: item.input.name,
    },
  };
}
