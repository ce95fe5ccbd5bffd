/** Checks candidates without the service, and makes items from them, with the paths of their results. */

import { stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { Failure } from '../../base/failure.ts';
import { mapConcurrently } from '../../base/together.ts';
import { parseAddress } from '../../protocol/address.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { isLoopback } from '../../protocol/loopback.ts';
import {
  type CheckedInput,
  type InputProblem,
  isCopied,
  type JobInput,
  type UnusableInput,
} from '../input.ts';
import type { BatchItem, SoundResult } from '../item.ts';
import { nameKept } from '../kept-tracks.ts';
import { addressName } from '../records/item-key.ts';
import { stemOfAddress } from '../result-name.ts';
import type { Terms } from '../terms.ts';
import { type Candidate, isAddress, isHttps, ONLY_HTTPS, stemOfJob, uploadIdOf } from './candidate.ts';
import { checkStdin, checkSubtitle, subtitleStem } from './check-subtitle.ts';
import {
  CONTAINERS,
  CONVERTIBLE,
  countFiles,
  describeSkipped,
  isCalledLikeInput,
  isConvertible,
  readVideoType,
  SOUNDS,
} from './content.ts';
import { type Delivery, deliveryOf, ownTemplate, type Places, placeResults } from './delivery.ts';
import { statReadable } from './file-status.ts';
import { createItem, orderInputs } from './items.ts';
import { inOneFile, languageTemplate } from './one-file.ts';
import type { PlanIo, PlanRequest } from './plan-request.ts';
import { buildRequests, type PlannedRequest } from './requests.ts';
import { chooseSound, findSoundMisfit, ownFormat } from './sound-results.ts';

/** Videos measured at a time. Each starts a process; more processes than cores gain nothing. */
const WIDTH = 4;

export interface PlacedItem extends Places {
  readonly item: BatchItem;
  /** False for a file of a folder: its problems concern no other item. */
  readonly isNamed: boolean;
}

interface Surroundings {
  readonly delivery: Delivery;
  /** Result files of earlier runs, absolute. */
  readonly results: ReadonlySet<string>;
  /** In a watched folder every file counts as named by the user, and an unusable one becomes an item too. */
  readonly isWatched: boolean;
}

interface Checked {
  readonly candidate: Candidate;
  /** An unusable input is possible. */
  readonly input: JobInput;
}

/**
 * Makes items of all inputs. A file of a folder that cannot be used becomes an item that fails. An unusable input that the
 * user named is added to the problems. The notes are for the user.
 */
export async function planItems(
  request: PlanRequest,
  found: readonly Candidate[],
  { delivery, results, isWatched }: Surroundings,
  io: PlanIo,
  problems: InputProblem[],
): Promise<{ items: readonly PlacedItem[]; notes: readonly string[] }> {
  const { kind, options, terms } = request;
  const candidates = isWatched ? found.map((each) => ({ ...each, isNamed: true })) : found;
  const isOwn = ({ isNamed, path }: Candidate) => !isNamed && path !== null && results.has(path);
  const foreign = candidates.filter((candidate) => !isOwn(candidate));
  const failsAlone = ({ isNamed }: Candidate) => isWatched || !isNamed;
  const before = problems.length;
  const requests = requestsByRow(request, candidates, problems);
  // Measuring hundreds of videos takes a minute, which a command with wrong options is not worth.
  const isMeasured = problems.length === before || isWatched;
  const reading = isMeasured ? io : { ...io, examineVideo: UNMEASURED };
  const files = foreign.filter(
    ({ path, name, isNamed }) => path !== null && (isNamed || isCalledLikeInput(kind, name)),
  ).length;
  if (files > 0 && isMeasured) io.onRead?.(files);
  const { inputs, others, read } = await checkAll(kind, foreign, failsAlone, reading, problems);
  const ordered = orderInputs(inputs, options.order ?? 'given');
  const { oneFile = false } = options;
  if (!oneFile && options.default !== undefined)
    problems.push({ pointer: '--default', detail: 'is for --one-file; add it, or leave this out' });
  const itemsOf = (
    { candidate, input: found }: (typeof ordered)[number],
    asked: readonly PlannedRequest[],
  ) => {
    const template = ownTemplate(kind, found, delivery);
    const sound = chooseSound(kind, found, options);
    const create = (each: PlannedRequest, own: string | null) => {
      const misfit = findSoundMisfit(request, found, sound, each.fields);
      const isAlone =
        misfit !== null && ownFormat(found) !== undefined && failsAlone(candidate) && found.type === 'file';
      if (misfit !== null && !isAlone && !problems.some(({ pointer }) => pointer === misfit.pointer))
        problems.push(misfit);
      const input: JobInput = isAlone
        ? {
            ...found,
            type: 'unusable',
            detail: `${misfit.pointer === found.label ? 'it' : misfit.pointer} ${misfit.detail}`,
          }
        : found;
      return finishItem(createItem(kind, input, each, own, terms), request, oneFile ? undefined : sound);
    };
    if (!oneFile) return asked.map((each) => keepTracks(create(each, template), options, problems));
    // Their tracks are copied into the file that is marked.
    const languages = asked.map((each) => ({
      ...create(each, languageTemplate(kind, options)),
      mark: undefined,
    }));
    // The name of a sound tells it from the result of its language.
    const named = { kind, folder: '', input: found };
    const add = (each: PlannedRequest, alone?: SoundResult) =>
      create(
        each,
        alone === undefined ? template : deliveryOf(delivery, { ...named, sound: alone }).template,
      );
    return inOneFile(languages, options, add, sound, problems);
  };
  const placed = ordered.flatMap((each) =>
    itemsOf(each, requests(each.candidate)).map((item) => {
      const { candidate } = each;
      if (options.sample !== undefined) requireFile(item, problems);
      requireLines(item, terms, problems);
      return { item, candidate, isNamed: candidate.isNamed, ...placesOf(item, delivery, problems) };
    }),
  );
  const expected = new Set(placed.flatMap(({ paths }) => paths ?? []));
  const items = placed.filter(
    ({ candidate: { isNamed, path } }) => isNamed || path === null || !expected.has(path),
  );
  const kept = new Set(items.map(({ candidate }) => candidate));
  const resultCount =
    candidates.length - foreign.length + inputs.filter((each) => !kept.has(each.candidate)).length;
  const notes = [...read, ...describeSkipped(kind, others, resultCount)];
  if (inputs.length === 0 && others.length > 0 && problems.length === 0) {
    const [only, ...more] = request.operands;
    const place = only === undefined || more.length > 0 ? 'the inputs' : `\`${only}\``;
    problems.push({
      pointer: 'inputs',
      detail: `no supported ${KINDS[kind].input}s in ${place} (${countFiles(others.length)} skipped)`,
    });
  }
  return { items, notes };
}

const UNMEASURED: PlanIo['examineVideo'] = async () => ({
  type: 'usable',
  seconds: null,
  preparation: null,
});

/** Adds a problem for an input of which no sample can be cut here. */
function requireFile({ input, label }: BatchItem, problems: InputProblem[]): void {
  if (input.type === 'file' || input.type === 'unusable') return;
  const detail = 'is not a file on this machine, from which --sample could be cut; download it first';
  problems.push({ pointer: label, detail });
}

/** The item with what this machine does to its result. */
function finishItem(item: BatchItem, { look, options }: PlanRequest, sound?: SoundResult): BatchItem {
  if (item.input.type === 'unusable' || isCopied(item.input)) return item;
  const { bilingual, noMark } = options;
  const mark = noMark === true ? false : options.mark === true ? true : undefined;
  return { ...item, look, bilingual, mark, sound };
}

/** Adds a problem for a dub of subtitles that only the service reads, where names are spoken in other words. */
function requireLines(
  { kind, input, label, targetLanguage }: BatchItem,
  terms: Terms | undefined,
  problems: InputProblem[],
): void {
  if (kind !== 'dubbing' || input.type === 'lines' || input.type === 'unusable') return;
  if ((terms?.said(targetLanguage ?? '').length ?? 0) === 0) return;
  const detail = 'is not a file on this machine, in which --terms could replace names; download it first';
  problems.push({ pointer: label, detail });
}

/** The item with the tracks that it keeps; adds a problem if they cannot be added to its result. */
function keepTracks(
  item: BatchItem,
  { keepAudio = false, keepSubtitles = false }: PlanRequest['options'],
  problems: InputProblem[],
): BatchItem {
  const keep = nameKept(keepAudio, keepSubtitles);
  const { input, fields, label } = item;
  if (keep === undefined || input.type === 'unusable' || isCopied(input)) return item;
  const flags = keep === 'audio and subtitles' ? '--keep-audio and --keep-subtitles' : `--keep-${keep}`;
  if (input.type !== 'file') {
    const detail = `is not a file on this machine, from which ${flags} could take tracks; download it first`;
    problems.push({ pointer: label, detail });
  }
  const hasSound = fields.mode === 'subtitles_only' && keepAudio;
  if (hasSound && !problems.some(({ pointer }) => pointer === '--keep-audio')) {
    const detail =
      'adds nothing with --mode subtitles_only, whose result has the original sound; leave it out';
    problems.push({ pointer: '--keep-audio', detail });
  }
  return { ...item, keep };
}

async function checkAll(
  kind: JobKind,
  candidates: readonly Candidate[],
  failsAlone: (candidate: Candidate) => boolean,
  io: PlanIo,
  problems: InputProblem[],
): Promise<{ inputs: readonly Checked[]; others: readonly Candidate[]; read: readonly string[] }> {
  const inputs: Checked[] = [];
  const read: string[] = [];
  const others: Candidate[] = [];
  const own: InputProblem[] = [];
  const checked = await mapConcurrently(candidates, WIDTH, (each) => checkInput(each, KINDS[kind].input, io));
  for (const [position, result] of checked.entries()) {
    const candidate = candidates[position];
    if (candidate === undefined) continue;
    const { path } = candidate;
    const isMeant = result.type === 'problem' || isCalledLikeInput(kind, candidate.name);
    const isOwn = result.type === 'problem' && result.isOwn === true && candidates.length > 1;
    if (isOwn && !failsAlone(candidate)) own.push({ pointer: candidate.label, detail: result.detail });
    if (result.type === 'usable') {
      inputs.push({ candidate, input: result.input });
      read.push(...(result.notes ?? []));
    } else if (path !== null && isMeant && (failsAlone(candidate) || isOwn))
      inputs.push({ candidate, input: await unusableInput(kind, { ...candidate, path }, result.detail) });
    else if (result.type === 'other' && !candidate.isNamed) others.push(candidate);
    else problems.push({ pointer: candidate.label, detail: result.detail });
  }
  // A plan that fails anyway lists everything.
  if (problems.length > 0) problems.push(...own);
  return { inputs, others, read };
}

async function unusableInput(
  kind: JobKind,
  { path, label, name }: Candidate & { readonly path: string },
  detail: string,
): Promise<UnusableInput> {
  const found = await stat(path).catch(() => null);
  const stem = KINDS[kind].input === 'video' ? basename(path, extname(path)) : subtitleStem(path);
  const facts = { bytes: found?.size ?? null, mtimeMs: found?.mtimeMs ?? null };
  return { type: 'unusable', label, stem, name, path, ...facts, detail };
}

/** The requests of each candidate. Its row of the sheet overrides the options. Candidates without a row share their requests. */
function requestsByRow(
  { kind, body, options, look }: PlanRequest,
  candidates: readonly Candidate[],
  problems: InputProblem[],
): (candidate: Candidate) => readonly PlannedRequest[] {
  /** A service knows no styles: it delivers a track, which is burned in on this machine. */
  const build = (asked: PlanRequest['options'], found: InputProblem[]) => {
    const { subtitleOutput = asked.mode === 'subtitles_only' ? 'soft' : 'none', bilingual } = asked;
    if (bilingual !== undefined && subtitleOutput === 'none')
      found.push({
        pointer: '--bilingual',
        detail: 'is for subtitles in the video; add --subtitle-output soft or burned',
      });
    if (look === undefined) return buildRequests(kind, body, asked, found);
    if (asked.subtitleOutput !== 'burned')
      found.push({
        pointer: '--subtitle-style',
        detail: 'is for burned subtitles; add --subtitle-output burned',
      });
    return buildRequests(kind, body, { ...asked, subtitleOutput: 'soft' }, found);
  };
  const isShared = candidates.length === 0 || candidates.some(({ row }) => row === null);
  const shared = isShared ? build(options, problems) : [];
  const byRow = new Map<Candidate['row'], readonly PlannedRequest[]>([[null, shared]]);
  for (const { row } of candidates) {
    if (row === null) continue;
    const found: InputProblem[] = [];
    byRow.set(row, build({ ...options, ...row.options }, found));
    const place = `row ${row.position} of the sheet`;
    problems.push(...found.map(({ pointer, detail }) => ({ pointer: `${place}, ${pointer}`, detail })));
  }
  return ({ row }) => byRow.get(row) ?? [];
}

function placesOf(item: BatchItem, delivery: Delivery, problems: InputProblem[]): Places {
  try {
    return placeResults(item, delivery);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { message, advice = '' } = error.facts;
    // A wrong template is wrong for all items.
    if (!problems.some(({ pointer }) => pointer === '--name')) {
      problems.push({ pointer: '--name', detail: `${message}. ${advice}` });
    }
    return { paths: null, claims: [] };
  }
}

/** Checks one candidate of a command for videos or subtitles; reports its problems and never throws for them. */
export async function checkInput(
  candidate: Candidate,
  takes: 'video' | 'subtitle',
  io: PlanIo,
): Promise<CheckedInput> {
  const { path, label, defect } = candidate;
  if (defect !== undefined) return problem(defect);
  if (path !== null) {
    return takes === 'video'
      ? checkVideo({ ...candidate, path }, io)
      : checkSubtitle({ ...candidate, path }, io);
  }
  if (isAddress(label)) return checkAddress(label);
  const upload = uploadIdOf(label);
  if (upload !== null) return usable({ type: 'upload', label, stem: upload, name: upload, id: upload });
  if (label !== '-')
    return usable({ type: 'job', label, stem: stemOfJob(label), name: label, reference: label });
  if (takes === 'subtitle') return checkStdin(io);
  return problem('a video cannot be read from stdin; give a file, an https address or an upload id');
}

function usable(input: JobInput): CheckedInput {
  return { type: 'usable', input };
}

function problem(detail: string): CheckedInput {
  return { type: 'problem', detail };
}

function checkAddress(address: string): CheckedInput {
  const url = parseAddress(address);
  if (url === null) return problem('this is not a valid address');
  // Only the service knows whether it allows http to its own machine.
  const mayBeOwn = url.protocol === 'http:' && isLoopback(url);
  if (!isHttps(address) && !mayBeOwn) return problem(ONLY_HTTPS);
  if (url.username !== '' || url.password !== '')
    return problem('the address contains a password; the service reads public addresses only');
  const name = addressName(address);
  return usable({ type: 'url', label: name, stem: stemOfAddress(url), name, url: address });
}

/** Media type of converted videos. */
const CONVERTED_TYPE = 'video/mp4';

/** Recognizes videos by content: names may be wrong. */
async function checkVideo(
  { path, label, name }: Candidate & { readonly path: string },
  io: Pick<PlanIo, 'examineVideo'>,
): Promise<CheckedInput> {
  const found = await statReadable(path);
  if (typeof found === 'string') return { type: 'other', detail: found };
  if (found.bytes === 0) return { type: 'other', detail: 'the file is empty; copy it again' };
  const contentType = await readVideoType(path);
  if (contentType === null && !(await isConvertible(path)))
    return { type: 'other', detail: describeOther(path) };
  const examined = await io.examineVideo(path, { bytes: found.bytes, isTaken: contentType !== null });
  if (examined.type !== 'usable') return examined;
  const { type: _, ...facts } = examined;
  const named = { label, stem: basename(path, extname(path)), name };
  const sent = { contentType: contentType ?? CONVERTED_TYPE, ...facts };
  return { type: 'usable', input: { type: 'file', ...named, path, ...found, ...sent } };
}

function describeOther(path: string): string {
  if (extname(path).toLowerCase() === '.srt')
    return 'these are subtitles; use `vloc translate` or `vloc dub`';
  return `not a supported video; accepted: ${CONTAINERS}; with --convert also ${CONVERTIBLE}; sound: ${SOUNDS}`;
}
