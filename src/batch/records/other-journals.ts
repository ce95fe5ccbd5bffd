/**
 * The other journals of an output folder: of other shards, which work beside this one, and of runs with another number of
 * shards, which exclude it.
 */
import { resolve } from 'node:path';
import { type Failure, usageFailure } from '../../base/failure.ts';
import { BATCH_SCHEMA, type BatchRecords, type ReadRecords, viewContent } from './batch-records.ts';
import { readRecords } from './database.ts';
import { readItemKeys } from './item-key.ts';
import { attachedIds } from './lost-jobs.ts';
import { type BatchPlace, listPlaces, recordsPath, refuseOldRecords } from './record-folder.ts';
import { writeShard } from './shard.ts';

/** Places whose items may be those of this one: another number of shards, or none. @throws Failure (`disk`) */
export async function otherPlaces(place: BatchPlace): Promise<readonly BatchPlace[]> {
  const all = await listPlaces(place.folder);
  return all.filter(({ shard }) => shard?.count !== place.shard?.count);
}

/**
 * Checks that no run with another number of shards has left records in the folder: its items are those of this run too, and
 * would be paid twice.
 * @throws Failure: `usage` (SHARDS_DIFFER), `disk`
 */
export async function requireSameShards(place: BatchPlace): Promise<void> {
  for (const other of await otherPlaces(place)) {
    if (await hasItems(other)) throw shardsDifferFailure(place, other, await hasItems(place));
  }
}

/** Whether a journal has items that were not forgotten, or may have some in damaged places. */
async function hasItems(place: BatchPlace): Promise<boolean> {
  const records = await readOwnRecords(place);
  return records.damage.length > 0 || readItemKeys(records).size > 0;
}

/** @param isMixed whether both places have items: then neither number of shards can be run before one is forgotten */
function shardsDifferFailure(
  { folder, shard }: BatchPlace,
  { shard: other }: BatchPlace,
  isMixed: boolean,
): Failure {
  const [before, how] =
    other === undefined
      ? ['without --shard', 'Leave --shard out']
      : [`with --shard i/${other.count}`, `Finish with --shard i/${other.count}`];
  const now = shard === undefined ? 'a run without --shard' : `--shard ${writeShard(shard)}`;
  return usageFailure(
    'SHARDS_DIFFER',
    `${folder} has records of runs ${before}; ${now} would pay for the same items again`,
    isMixed
      ? `Forget one of them: \`vloc batch forget DIR --shards ${other?.count ?? 0}\` keeps the items of this run. Nothing was sent.`
      : `${how}, as before, or give this run inputs of its own and another folder with --out. Nothing was sent.`,
  );
}

/** The records of one batch or shard; empty if there are none. @throws Failure (`disk`; `usage`, RECORDS_OLD) */
export async function readOwnRecords(place: BatchPlace): Promise<ReadRecords> {
  await refuseOldRecords(place);
  return viewContent(await readRecords(recordsPath(place), BATCH_SCHEMA), place.folder);
}

async function readOthers(place: BatchPlace): Promise<readonly ReadRecords[]> {
  const others = (await listPlaces(place.folder)).filter(
    (other) => recordsPath(other) !== recordsPath(place),
  );
  return Promise.all(others.map(readOwnRecords));
}

/** Ids of the jobs of items in other journals of the folder. @throws Failure (`disk`) */
export async function readOtherJobs(place: BatchPlace): Promise<ReadonlySet<string>> {
  const others = await readOthers(place);
  return new Set(others.flatMap(({ attempts }) => [...attachedIds(attempts)]));
}

/**
 * Result files of all journals of the folder, absolute: they are not inputs.
 * @param own the records of this one
 * @throws Failure (`disk`)
 */
export async function readResults(place: BatchPlace, own: BatchRecords): Promise<ReadonlySet<string>> {
  const others = await readOthers(place);
  return new Set([own, ...others].flatMap((records) => resultsOf(records, place.folder)));
}

/** Result files of all items of a journal, absolute. */
function resultsOf({ attempts, findOutputs }: BatchRecords, folder: string): readonly string[] {
  // Of a run that was killed, only these rows have the files that got their names.
  const outputs = (['result', 'export'] as const).flatMap((step) => findOutputs({ step }));
  return [...recordedResults({ attempts }, folder), ...outputs.map(({ path }) => path)];
}

/** All result files in the journal, absolute. */
export function recordedResults(
  { attempts }: Pick<BatchRecords, 'attempts'>,
  folder: string,
): ReadonlySet<string> {
  const files = [...attempts.byKey.values()].flatMap((attempt) => attempt.files);
  return new Set(files.map(({ path }) => resolve(folder, path)));
}
