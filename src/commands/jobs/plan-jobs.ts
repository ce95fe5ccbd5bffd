/** The items of a job command, and checks before anything is sent. */

import { tmpdir } from 'node:os';
import { configurationFailure, Failure, usageFailure } from '../../base/failure.ts';
import { freeBytes } from '../../base/folder.ts';
import type { InputProblem } from '../../batch/input.ts';
import { readDelivery } from '../../batch/inputs/delivery.ts';
import { isMadeHere } from '../../batch/inputs/items.ts';
import type { PlacedItem } from '../../batch/inputs/plan-items.ts';
import type { FileFilter, PlanIo, PlanRequest } from '../../batch/inputs/plan-request.ts';
import type { BatchItem } from '../../batch/item.ts';
import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import type { Decision } from '../../batch/plan/decision.ts';
import { type CollectedItems, collectBatch } from '../../batch/plan/plan.ts';
import { isRefused } from '../../batch/plan/refusal.ts';
import type { BatchRecords, ReadRecords } from '../../batch/records/batch-records.ts';
import { nameOfKey } from '../../batch/records/item-key.ts';
import { readResults } from '../../batch/records/other-journals.ts';
import type { BatchPlace } from '../../batch/records/record-folder.ts';
import { writeShard } from '../../batch/records/shard.ts';
import { describeBatchDamage, readBatchRecords } from '../../batch/report/read-batch.ts';
import type { Terms } from '../../batch/terms.ts';
import type { Capabilities } from '../../engines/engine.ts';
import type { ModelStep } from '../../engines/models/catalog.ts';
import type { Look } from '../../media/subtitles/look.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import type { Context, Io } from '../context/context.ts';
import { checkReach, requireFfmpeg } from '../context/engines.ts';
import { asSentence } from '../context/format.ts';
import { readBody } from '../context/request-body.ts';
import { readLook } from '../context/subtitle-style.ts';
import { createVideoExaminer } from './examine-video.ts';
import { type JobOptions, type PreparationOptions, readPreparation } from './job-options.ts';
import { type FindSpeakers, openSpeakers, type SpeakersContext } from './speakers.ts';
import { createLinesExaminer, createSubtitleIo } from './subtitles.ts';
import { checkTerms, openTerms } from './terms.ts';
import { openVoices, type Voices } from './voices.ts';

interface NoteReceiver {
  readonly terminal: Pick<Context['terminal'], 'note' | 'warn'>;
}

/** The items of a job command, and what is needed to decide about them. */
export interface CollectedJobs extends CollectedItems {
  /** Records of earlier runs, read without a lock. */
  readonly recorded: BatchRecords;
  /** Those of --terms. */
  readonly terms: Terms | undefined;
}

/**
 * Collects the items of a job command: checks its options, and finds, examines and names its inputs.
 * @param only keys of the wanted items: other files in folders are not examined; null for all
 * @throws Failure of category usage that lists every problem found
 */
export async function collectJobs(
  kind: JobKind,
  operands: readonly string[],
  options: JobOptions,
  context: PlanContext,
  only: ReadonlySet<string> | null = null,
): Promise<CollectedJobs> {
  const { request, voices, ...opened } = await openRequest(kind, operands, options, context);
  const planIo = { ...opened.planIo, onRead: createReadingNote(kind, context) };
  const { records: recorded, results } = await readEarlierRuns(context, readDelivery(kind, options, planIo));
  const names = new Set([...(only ?? [])].map(nameOfKey));
  const isWanted: FileFilter = ({ name }) => names.has(name);
  const wanted = only === null ? request : { ...request, isWanted };
  // A retry does not read the files of other items.
  const check = voices !== null && only === null ? voices.check : undefined;
  const collected = await collectBatch(wanted, planIo, results, check);
  const languages = collected.all.map(({ item }) => item.targetLanguage);
  const { terms } = request;
  await checkTerms(kind, options, terms, languages, context);
  const items = only === null ? collected.items : pickItems(collected.items, only, context);
  return { ...collected, items, recorded, terms };
}

type PlanContext = SpeakersContext & NoteReceiver;

/** The request of a plan, and what examines its inputs. @throws Failure for options that this machine cannot carry out */
export async function openRequest(
  kind: JobKind,
  operands: readonly string[],
  options: JobOptions,
  context: PlanContext,
) {
  const { io, signal } = context;
  const terms = await openTerms(options, io);
  const request = { ...(await readRequest(kind, operands, options, io)), terms };
  await requireUsedFfmpeg(context, options);
  const findSpeakers = await openSpeakers(kind, options, context);
  const voices = openVoices(options.voices);
  return { request, voices, planIo: createPlanIo(io, { kind, options, signal, findSpeakers, voices }) };
}

interface EarlierRuns {
  readonly records: ReadRecords;
  /** Files that they wrote, absolute. */
  readonly results: ReadonlySet<string>;
}

/**
 * Reads the records of a folder without a lock, and reports their damage before anything else can end the command.
 * @throws Failure: `disk` when they cannot be read, `usage` (SHARDS_DIFFER)
 */
export async function readEarlierRuns({ terminal }: NoteReceiver, place: BatchPlace): Promise<EarlierRuns> {
  const records = await readBatchRecords(place);
  warnOfDamage(terminal, describeBatchDamage(records));
  return { records, results: await readResults(place, records) };
}

/** Most warnings about one journal. */
const MOST_PLACES = 3;

/** @param damage a sentence for each damaged place */
export function warnOfDamage({ warn }: Pick<Context['terminal'], 'warn'>, damage: readonly string[]): void {
  for (const sentence of damage.slice(0, MOST_PLACES)) warn(sentence);
  const more = damage.length - MOST_PLACES;
  if (more > 0) warn(`The record is damaged in ${more} more places.`);
}

/** Prints how many videos are examined. Subtitles are read at once. */
export function createReadingNote(kind: JobKind, { terminal }: NoteReceiver): PlanIo['onRead'] {
  if (KINDS[kind].input !== 'video') return undefined;
  return (files) => terminal.note(`Reading ${files} ${files === 1 ? 'video' : 'videos'}...`);
}

/** The request of a plan, with the fields of --body and their problems. */
async function readRequest(
  kind: JobKind,
  operands: readonly string[],
  options: JobOptions,
  io: Context['io'],
): Promise<PlanRequest> {
  const problems: InputProblem[] = [];
  const body = await readBodyFields(options.body, operands, io, problems);
  problems.push(...(await findMissingPrograms(options, io)));
  const look = await readLook(options.subtitleStyle, io);
  return { kind, operands, options, body, problems, look };
}

/** Options for work on results. */
type UsedHere = Pick<
  JobOptions,
  'keepAudio' | 'keepSubtitles' | 'oneFile' | 'soundOnly' | 'subtitleStyle' | 'voices' | 'mark' | 'noMark'
>;

/** The programs that add tracks to a result or mix several, and are needed only after it was paid. */
const TRACK_PROGRAMS = ['ffmpeg', 'ffprobe'];

/** Problems of options that need programs which this machine lacks. */
export async function findMissingPrograms(
  { keepAudio, keepSubtitles, oneFile, soundOnly, subtitleStyle, mark, noMark, voices = [] }: UsedHere,
  { env }: Pick<Io, 'env'>,
): Promise<readonly InputProblem[]> {
  const used = [
    ...(voices.length > 0 ? ['--voices'] : []),
    ...(oneFile ? ['--one-file'] : []),
    ...(soundOnly ? ['--sound-only'] : []),
    ...(keepAudio ? ['--keep-audio'] : []),
    ...(keepSubtitles ? ['--keep-subtitles'] : []),
    ...(subtitleStyle === undefined ? [] : ['--subtitle-style']),
    ...(mark ? ['--mark'] : []),
    ...(noMark ? ['--no-mark'] : []),
  ];
  const [pointer] = used;
  if (pointer === undefined) return [];
  const { locateProgram } = await import('../../media/programs/programs.ts');
  const missing = TRACK_PROGRAMS.filter((name) => locateProgram(name, env.PATH ?? '') === null);
  if (missing.length === 0) return [];
  const detail = `needs ${missing.join(' and ')} on this machine; install it with \`vloc engines install\``;
  return [{ pointer, detail }];
}

/** Refuses an ffmpeg that is too old, if the options need it on this machine. @throws Failure (`configuration`) */
export async function requireUsedFfmpeg(
  context: Pick<Context, 'io' | 'signal'>,
  options: PreparationOptions & UsedHere,
): Promise<void> {
  const { convert, split, audioTrack, sampleSeconds } = readPreparation(options);
  const isPrepared = convert || split || audioTrack !== null || sampleSeconds !== null;
  const isMixed = (options.voices ?? []).length > 0;
  const { keepAudio, keepSubtitles, oneFile, soundOnly, subtitleStyle, mark, noMark } = options;
  const isRewritten = keepAudio || keepSubtitles || subtitleStyle !== undefined || mark || noMark;
  const isAfter = isRewritten || oneFile || soundOnly;
  if (isPrepared || isMixed || isAfter) await requireFfmpeg(context);
}

/** Prints which part of the items belongs to the shard, so that no one waits for the others. */
export function noteShard(
  { terminal }: NoteReceiver,
  { items, all, delivery: { shard } }: Pick<CollectedItems, 'items' | 'all' | 'delivery'>,
): void {
  if (shard === undefined) return;
  const rest =
    items.length === 0 && all.length > 0 ? '; there is nothing to do, since all belong to other shards' : '';
  terminal.note(`Shard ${writeShard(shard)}: ${items.length} of ${all.length} items${rest}.`);
}

/** How inputs are examined. */
interface PlanIoOptions {
  readonly kind: JobKind;
  readonly options: PreparationOptions;
  readonly signal: AbortSignal;
  readonly findSpeakers?: FindSpeakers | undefined;
  readonly voices?: Voices | null | undefined;
  /** See `createVideoExaminer`. Default: false. */
  readonly isUsedHere?: boolean;
}

export function createPlanIo(
  { cwd, stdin, env, limits }: Context['io'],
  { kind, options, signal, findSpeakers, voices, isUsedHere = false }: PlanIoOptions,
): PlanIo {
  const allowed = readPreparation(options);
  const examiner = { kind, allowed, searchPath: env.PATH ?? '', limits, signal, isUsedHere };
  return {
    cwd,
    stdin,
    examineVideo: createVideoExaminer(examiner),
    examineLines: createLinesExaminer(kind, allowed.split, limits, voices),
    freeBytes,
    ...createSubtitleIo(findSpeakers),
  };
}

type Fields = Record<string, unknown>;

/**
 * The object of `--body @file` or `--body -`; empty without the option.
 * @param operands the inputs: stdin can be read only once
 */
export async function readBodyFields(
  written: string | undefined,
  operands: readonly string[],
  io: Io,
  problems: InputProblem[],
): Promise<Fields> {
  if (written === undefined) return {};
  const report = (detail: string) => problems.push({ pointer: '--body', detail });
  if (written === '-' && operands.includes('-')) {
    report('- is already the input; pass the fields in a file, with @file');
    return {};
  }
  try {
    const fields: unknown = JSON.parse((await readBody(written, io)).toString('utf8'));
    if (isObject(fields)) return fields;
    report('must be a JSON object of request fields');
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    report(error.message);
  }
  return {};
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Picks these items. Some may be missing: deleted files, and addresses with a query, which records omit.
 * @throws Failure (`usage`) when none is left
 */
function pickItems(
  items: readonly PlacedItem[],
  keys: ReadonlySet<string>,
  { terminal }: NoteReceiver,
): readonly PlacedItem[] {
  const found = items.filter(({ item }) => keys.has(item.key));
  // With a language, the file that has it is made again.
  const picked = items.filter(({ item: { key, gathers = [] } }) =>
    [key, ...gathers.map((language) => language.key)].some((own) => keys.has(own)),
  );
  const missing = keys.size - found.length;
  const message = `${missing} of ${keys.size} items to run again are no longer inputs of their command`;
  const advice =
    'Check that the files are where they were; addresses with a query are not kept, so run that command itself with --retry-failed.';
  if (picked.length === 0) throw usageFailure('INPUTS_GONE', message, advice);
  if (missing > 0) terminal.warn(`${message}. ${advice}`);
  return picked;
}

/** Why the embedded engines, or the fonts here, cannot do a request: configuration for a missing engine, usage for a language. Null: they can. */
export type SupportCheck = (
  kind: JobKind,
  fields: BatchItem['fields'],
  look?: BatchItem['look'],
) => Promise<Failure | null>;

/**
 * The check of a run, which looks at each kind of request once.
 * @param capabilities null for a remote service, which does its own checks
 */
export function createSupportCheck(capabilities: Capabilities | null, context: Context): SupportCheck {
  const checked = new Map<string, Promise<Failure | null>>();
  const check = async (kind: JobKind, fields: BatchItem['fields'], look: BatchItem['look']) => {
    const failure = look === undefined ? null : await findUnstyled(look, fields, context);
    if (failure !== null || capabilities === null) return failure;
    return findUnsupported(kind, fields, capabilities, context);
  };
  return (kind, fields, look) => {
    // Hundreds of items need the same engines.
    const { source_language, target_language, mode } = fields;
    const needs = JSON.stringify([kind, source_language, target_language, mode, look]);
    const found = checked.get(needs) ?? check(kind, fields, look);
    checked.set(needs, found);
    return found;
  };
}

/** The items, of which new ones that the engines cannot do are refused. */
export async function refuseUnsupported(
  planned: readonly PlannedItem[],
  check: SupportCheck,
): Promise<readonly PlannedItem[]> {
  const found = planned.map(async (each): Promise<PlannedItem> => {
    const { kind, fields, look } = each.item;
    const isChecked = each.decision.step === 'new' && !isMadeHere(each.item);
    const failure = isChecked ? await check(kind, fields, look) : null;
    return failure === null ? each : { ...each, decision: refusalOf(failure) };
  });
  return Promise.all(found);
}

/** The decision about an item whose request the engines cannot do, while others run. */
export function refusalOf({ message, facts }: Failure): Extract<Decision, { step: 'unusable' }> {
  return { step: 'unusable', detail: [message, facts.advice ?? []].flat().join('. '), code: facts.code };
}

/** The same for all items of a command. @throws Failure of the first request that no engine can do, if no item is left */
export async function checkSupport(
  planned: readonly PlannedItem[],
  capabilities: Capabilities | null,
  context: Context,
): Promise<readonly PlannedItem[]> {
  const check = createSupportCheck(capabilities, context);
  const left = await refuseUnsupported(planned, check);
  if (!left.every(({ decision }) => isRefused(decision))) return left;
  for (const { item, decision } of planned) {
    const failure = decision.step === 'new' ? await check(item.kind, item.fields, item.look) : null;
    if (failure !== null) throw failure;
  }
  return left;
}

/** Checks that this machine has the fonts to burn subtitles in. */
async function findUnstyled(
  look: Look,
  { target_language: language }: BatchItem['fields'],
  { io, signal }: Context,
): Promise<Failure | null> {
  const [{ checkExport }, { createPrograms }] = await Promise.all([
    import('../../media/export/export.ts'),
    import('../../media/programs/programs.ts'),
  ]);
  const request = { video: null, subtitleOutput: 'burned', resolution: 'source', look } as const;
  const target = { ...request, targetLanguage: String(language ?? 'und') };
  const run = { signal, folder: tmpdir() };
  try {
    await checkExport(createPrograms(io.env.PATH ?? ''), target, null, run);
    return null;
  } catch (error) {
    if (!(error instanceof JobFailure)) throw error;
    return usageFailure(error.code, error.message, 'Nothing was sent.');
  }
}

async function findUnsupported(
  kind: JobKind,
  fields: BatchItem['fields'],
  capabilities: Capabilities,
  context: Context,
): Promise<Failure | null> {
  const { explainUnsupported } = await import('../../engines/support.ts');
  const obstacle = explainUnsupported(kind, fields, capabilities);
  if (obstacle === null) return checkReach(kind, fields, context);
  if (obstacle.missing) return configurationFailure('ENGINE_MISSING', obstacle.message, obstacle.advice);
  const models = await suggestModelsFor(obstacle.steps, fields, context);
  const advice = asSentence(obstacle.advice);
  return usageFailure(
    'LANGUAGE_NOT_SUPPORTED',
    obstacle.message,
    models === null ? advice : `${advice} Or ${models}`,
  );
}

/** The models that could be downloaded for these steps of a request; null if models cannot do them. */
async function suggestModelsFor(
  steps: readonly ModelStep[],
  fields: BatchItem['fields'],
  context: Context,
): Promise<string | null> {
  const [{ languageOf }, { suggestModels }] = await Promise.all([
    import('../../engines/support.ts'),
    import('../engines/suggest-models.ts'),
  ]);
  const source = languageOf(fields.source_language);
  const target = languageOf(fields.target_language);
  const languages = { from: source === 'auto' ? null : source, to: target === null ? [] : [target] };
  return suggestModels(languages, steps, context);
}
