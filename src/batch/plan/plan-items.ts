/** Checks candidates and makes items from them, with the paths of their results. */
import { stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { Failure } from '../../errors/failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import type { BatchItem } from '../item.ts';
import type { PlanIo, PlanRequest } from './batch-plan.ts';
import type { Candidate } from './candidate.ts';
import { checkInput } from './check-input.ts';
import { subtitleStem } from './check-subtitle.ts';
import { describeSkipped, isCalledLikeInput } from './content.ts';
import type { Delivery } from './delivery.ts';
import type { InputProblem, JobInput, UnusableInput } from './input.ts';
import { createItem, orderInputs } from './items.ts';
import { mapConcurrently } from './map-concurrently.ts';
import { buildRequests, type PlannedRequest } from './requests.ts';
import { defaultTemplate } from './result-name.ts';
import { type Places, placeResults } from './result-paths.ts';

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
  const { kind, options } = request;
  const candidates = isWatched ? found.map((each) => ({ ...each, isNamed: true })) : found;
  const isOwn = ({ isNamed, path }: Candidate) => !isNamed && path !== null && results.has(path);
  const foreign = candidates.filter((candidate) => !isOwn(candidate));
  const failsAlone = ({ isNamed }: Candidate) => isWatched || !isNamed;
  const { inputs, others } = await checkAll(kind, foreign, failsAlone, io, problems);
  const requests = requestsByRow(request, candidates, problems);
  const ordered = orderInputs(inputs, options.order ?? 'given');
  const placed = ordered.flatMap(({ candidate, input }) =>
    requests(candidate).map((each) => {
      const item = createItem(kind, input, each, ownTemplate(kind, delivery));
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
  const notes = describeSkipped(kind, others, resultCount);
  if (inputs.length === 0 && others.length > 0 && problems.length === 0) {
    problems.push({
      pointer: 'inputs',
      detail: `there is no ${KINDS[kind].input} among ${others.length === 1 ? '1 file' : `${others.length} files`}; check the path`,
    });
  }
  return { items, notes };
}

async function checkAll(
  kind: JobKind,
  candidates: readonly Candidate[],
  failsAlone: (candidate: Candidate) => boolean,
  io: PlanIo,
  problems: InputProblem[],
): Promise<{ inputs: readonly Checked[]; others: readonly Candidate[] }> {
  const inputs: Checked[] = [];
  const others: Candidate[] = [];
  const checked = await mapConcurrently(candidates, WIDTH, (each) => checkInput(each, KINDS[kind].input, io));
  for (const [position, result] of checked.entries()) {
    const candidate = candidates[position];
    if (candidate === undefined) continue;
    const { path } = candidate;
    const isMeant = result.type === 'problem' || isCalledLikeInput(kind, candidate.name);
    if (result.type === 'usable') inputs.push({ candidate, input: result.input });
    else if (path !== null && isMeant && failsAlone(candidate))
      inputs.push({ candidate, input: await unusableInput(kind, { ...candidate, path }, result.detail) });
    else if (result.type === 'other' && !candidate.isNamed) others.push(candidate);
    else problems.push({ pointer: candidate.label, detail: result.detail });
  }
  return { inputs, others };
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
  { kind, body, options }: PlanRequest,
  candidates: readonly Candidate[],
  problems: InputProblem[],
): (candidate: Candidate) => readonly PlannedRequest[] {
  const isShared = candidates.length === 0 || candidates.some(({ row }) => row === null);
  const shared = isShared ? buildRequests(kind, body, options, problems) : [];
  const byRow = new Map<Candidate['row'], readonly PlannedRequest[]>([[null, shared]]);
  for (const { row } of candidates) {
    if (row === null) continue;
    const found: InputProblem[] = [];
    byRow.set(row, buildRequests(kind, body, { ...options, ...row.options }, found));
    const place = `row ${row.position} of the sheet`;
    problems.push(...found.map(({ pointer, detail }) => ({ pointer: `${place}, ${pointer}`, detail })));
  }
  return ({ row }) => byRow.get(row) ?? [];
}

/** Null for the usual names. */
function ownTemplate(kind: JobKind, { template }: Delivery): string | null {
  return template === '' || template === defaultTemplate(kind) ? null : template;
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
