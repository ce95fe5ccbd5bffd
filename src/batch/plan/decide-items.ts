/** Decisions about all items, with what only the disk can tell. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInputs } from '../../disk/find-input.ts';
import type { BatchItem } from '../item.ts';
import type { PlannedItem } from './batch-plan.ts';
import { type Choices, type Decision, decide, needsHash, type Recorded } from './decision.ts';
import type { Delivery } from './delivery.ts';
import { exists } from './file-status.ts';
import { type InputProblem, joinProblems } from './input.ts';
import { newestIntent } from './item-key.ts';
import { fileOf } from './items.ts';
import type { PlacedItem } from './plan-items.ts';
import { type Claim, findClashes, findOverwrittenInputs } from './result-paths.ts';
import { mapSideBySide } from './side-by-side.ts';

/** Disks answer a few at once faster than one after the other. */
const WIDTH = 4;

/** One decision for each item, in their order; a file is read only where nothing else can tell whether it has changed. */
export async function decideItems(
  items: readonly BatchItem[],
  recorded: Recorded,
  choices: Choices,
): Promise<readonly Decision[]> {
  const { hashFile, ...rest } = choices;
  const touched = rest.fresh ? [] : items.filter((item) => needsHash(item, recorded));
  const hashes = await hashInputs(touched, hashFile);
  const paths = items.flatMap((item) => downloadedPaths(item, recorded));
  const sizes = new Map<string, number>();
  await mapSideBySide(paths, WIDTH, async (path) => {
    const found = await stat(path).catch(() => null);
    if (found !== null) sizes.set(path, found.size);
  });
  return items.map((item) => decide(item, recorded, { ...rest, hashes, sizes }));
}

/** By item key; a file that stands for several languages is read once. */
async function hashInputs(
  items: readonly BatchItem[],
  hashFile: Choices['hashFile'],
): Promise<ReadonlyMap<string, string>> {
  const byPath = Map.groupBy(items, ({ input }) => (input.type === 'file' ? input.path : ''));
  const hashes = new Map<string, string>();
  await mapSideBySide([...byPath], WIDTH, async ([path, sharing]) => {
    const sha256 = await hashFile(path);
    for (const { key } of sharing) hashes.set(key, sha256);
  });
  return hashes;
}

function downloadedPaths({ key }: BatchItem, { intents }: Recorded): readonly string[] {
  const outcome = newestIntent(key, intents)?.outcome;
  return outcome?.phase === 'downloaded' ? outcome.record.files.map(({ path }) => path) : [];
}

/** Every file that the journal knows as a result, absolute. */
export function recordedResults({ intents }: Recorded, folder: string): ReadonlySet<string> {
  const files = [...intents.byKey.values()].flatMap(({ outcome }) =>
    outcome.phase === 'downloaded' ? outcome.record.files : [],
  );
  return new Set(files.map(({ path }) => resolve(folder, path)));
}

/**
 * The items with their last decision. An item of a folder that conflicts with an existing file or an earlier job fails
 * alone; conflicts of the others are added to the problems.
 * @param named see `namedPaths`
 */
export async function settle(
  items: readonly PlacedItem[],
  decisions: readonly Decision[],
  delivery: Delivery,
  named: readonly string[],
  problems: InputProblem[],
): Promise<readonly PlannedItem[]> {
  // What fails here writes nothing.
  const writing = items.filter(({ item }) => item.input.type !== 'unusable');
  const claims = writing.flatMap(({ item, claims }) =>
    claims.map((path): Claim => ({ label: item.label, path })),
  );
  const inputs = createInputs([...named, ...items.flatMap(({ item }) => fileOf(item.input)?.path ?? [])]);
  const written = writing.flatMap(({ item, paths, claims }) =>
    (paths ?? claims).map((path): Claim => ({ label: item.label, path })),
  );
  problems.push(...findClashes(claims), ...(await findOverwrittenInputs(written, inputs.find)));
  const planned: PlannedItem[] = [];
  for (const [position, placed] of items.entries()) {
    const decision = decisions[position] ?? { step: 'new', after: null };
    const found: InputProblem[] = [];
    const settled = await settleOne(placed, decision, delivery, found);
    const failsAlone = !placed.isNamed && found.length > 0;
    if (!failsAlone) problems.push(...found);
    const last: Decision = failsAlone
      ? { step: 'unusable', detail: joinProblems(found, placed.item.label) }
      : settled;
    planned.push({ ...placed, decision: last });
  }
  return planned.map(({ item, paths, decision }) => ({ item, paths, decision }));
}

async function settleOne(
  { item, paths }: PlacedItem,
  decision: Decision,
  { existing }: Delivery,
  problems: InputProblem[],
): Promise<Decision> {
  if (decision.step === 'done' || decision.step === 'continue') return decision;
  const there: string[] = [];
  for (const path of paths ?? []) if (await exists(path)) there.push(path);
  const isThere = there.length > 0 && there.length === paths?.length;
  if (existing === 'skip' && isThere) return { step: 'done', before: 'exists', jobId: null, files: [] };
  switch (decision.step) {
    case 'changed':
      problems.push({ pointer: item.label, detail: describeChanged(decision) });
      break;
    case 'edited':
      problems.push({
        pointer: decision.path,
        detail: 'was changed since it was downloaded; --clobber fetches it again, --skip-existing keeps it',
      });
      break;
    case 'new':
      if (existing !== 'refuse') break;
      for (const pointer of there) {
        problems.push({
          pointer,
          detail: 'exists; --clobber replaces it, --skip-existing skips it, --out chooses another folder',
        });
      }
  }
  return decision;
}

function describeChanged({ what, changes }: Extract<Decision, { step: 'changed' }>): string {
  const how = changes.length === 0 ? '' : ` (${changes.join(', ')})`;
  const fix = '--clobber makes a new job and replaces the result, --skip-existing keeps what is there';
  return `the ${what} changed since the job was made${how}; ${fix}`;
}
