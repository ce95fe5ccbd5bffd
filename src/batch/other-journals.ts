/**
 * The other journals of an output folder. A batch may be run in shards, and later in another number of shards or without
 * them. A run then takes over what other journals know about its items, so that nothing is paid twice.
 */
import { resolve } from 'node:path';
import { readCountedLog } from '../journal/append-log.ts';
import { foldIntents, type Intent, type Intents, PHASES } from '../journal/intents.ts';
import type { LogContent, LogRecord } from '../journal/record-line.ts';
import { recordedResults } from './plan/decide-items.ts';
import { nameOfKey, readPartKey } from './plan/item-key.ts';
import { type BatchPlace, journalPath, listPlaces, withAbsolutePaths } from './record-folder.ts';
import { attachedIds } from './run/lost-jobs.ts';
import { isInShard, isKeyInShard } from './shard.ts';
import { foldStageRecords } from './stages/records.ts';

/** Places whose items may be those of this one: another number of shards, or none. @throws Failure (`disk`) */
export async function otherPlaces(place: BatchPlace): Promise<readonly BatchPlace[]> {
  const all = await listPlaces(place.folder);
  return all.filter(({ shard }) => shard?.count !== place.shard?.count);
}

/** Another journal, paths in it absolute. */
export interface OtherLog extends Pick<LogContent, 'records' | 'damage'> {
  readonly place: BatchPlace;
}

/** The journals of other places; default: of those whose items may be those of this one. @throws Failure (`disk`) */
export async function readOtherLogs(
  place: BatchPlace,
  others?: readonly BatchPlace[],
): Promise<readonly OtherLog[]> {
  const { folder } = place;
  return Promise.all(
    (others ?? (await otherPlaces(place))).map(async (other) => {
      const { records, damage } = await readCountedLog(journalPath(other));
      return { place: other, records: records.map((record) => withAbsolutePaths(folder, record)), damage };
    }),
  );
}

/** Those of all other places of the folder, also of other shards of the same batch. */
async function readAllOtherLogs(place: BatchPlace) {
  const all = await listPlaces(place.folder);
  return readOtherLogs(
    place,
    all.filter((other) => journalPath(other) !== journalPath(place)),
  );
}

/** Ids of the jobs of items in other journals of the folder. @throws Failure (`disk`) */
export async function readOtherJobs(place: BatchPlace): Promise<ReadonlySet<string>> {
  const logs = await readAllOtherLogs(place);
  return new Set(logs.flatMap(({ records }) => [...attachedIds(foldIntents(records))]));
}

/** Result files that other journals of the folder have, absolute: they are not inputs. @throws Failure (`disk`) */
export async function readOtherResults(place: BatchPlace): Promise<ReadonlySet<string>> {
  const logs = await readAllOtherLogs(place);
  return new Set(logs.flatMap(({ records }) => resultsOf(records, place.folder)));
}

/** Result files of all items of a journal, absolute. */
function resultsOf(records: readonly LogRecord[], folder: string): readonly string[] {
  const videos = [...foldStageRecords(records).finished.values()];
  return [
    ...recordedResults({ intents: foldIntents(records) }, folder),
    ...videos.map(({ newest }) => resolve(folder, newest.path)),
  ];
}

interface Known {
  readonly intents: Intents;
  /** Without those of intents, or with them. */
  readonly records: readonly LogRecord[];
}

/**
 * The records of other journals about the items of a place, as far as its own journal lacks them, in an order in which they
 * can be appended to it. Pure.
 */
export function inheritRecords(
  own: Known,
  others: readonly Pick<OtherLog, 'records'>[],
  { shard }: Pick<BatchPlace, 'shard'>,
): readonly LogRecord[] {
  const taken: LogRecord[] = [];
  for (const { records } of others) {
    const known = { own: own.intents, taken: foldIntents(taken) };
    const theirs = foldIntents(records);
    const news = [...theirs.byItem].filter(
      ([item]) => isKeyInShard(item, shard) && hasNews(item, theirs, known),
    );
    const keys = new Set(news.flatMap(([, intents]) => intents));
    const items = new Set(news.map(([item]) => wholeOf(item)));
    const isCut = news.some(([item]) => readPartKey(item) !== null);
    const isOfIntent = ({ key }: LogRecord) => typeof key === 'string' && keys.has(key);
    const isOfItem = ({ type, item }: LogRecord) =>
      ITEM_RECORDS.has(type) && typeof item === 'string' && items.has(wholeOf(item));
    const isOfCut = ({ type }: LogRecord) => isCut && type === 'prepared';
    const isLater = isLaterStage([...own.records, ...taken], shard);
    taken.push(
      ...records.filter(
        (record) => isOfIntent(record) || isOfItem(record) || isOfCut(record) || isLater(record),
      ),
    );
  }
  return taken;
}

/** Records about an item besides those of its intents; inputs that cannot be used are checked again anyway. */
const ITEM_RECORDS = new Set(['item_facts', 'joining']);

function wholeOf(item: string): string {
  return readPartKey(item)?.item ?? item;
}

/** Whether a journal knows more about an item. A run takes over what others know first, so the newest one knows all intents. */
function hasNews(
  item: string,
  theirs: Intents,
  { own, taken }: { readonly own: Intents; readonly taken: Intents },
): boolean {
  const newest = taken.byItem.get(item)?.at(-1) ?? own.byItem.get(item)?.at(-1);
  if (newest !== undefined && !theirs.byKey.has(newest)) return false;
  return (theirs.byItem.get(item) ?? []).some((key) => {
    const ours = [own.byKey.get(key), taken.byKey.get(key)].map(progressOf);
    return progressOf(theirs.byKey.get(key)) > Math.max(...ours);
  });
}

function progressOf(intent: Intent | undefined): number {
  return intent === undefined ? -1 : PHASES.indexOf(intent.outcome.phase);
}

/** Subtitles and videos of stages have no intents: of two records, the later one counts. */
function isLaterStage(known: readonly LogRecord[], shard: BatchPlace['shard']) {
  const times = new Map<string, number>();
  for (const record of known) {
    const subject = stageSubject(record);
    if (subject !== null) times.set(subject.id, Math.max(times.get(subject.id) ?? 0, subject.atMs));
  }
  return (record: LogRecord): boolean => {
    const subject = stageSubject(record);
    if (subject?.name == null || !isInShard(subject.name, shard)) return false;
    return subject.atMs > (times.get(subject.id) ?? 0);
  };
}

/** What a record of a stage is about; null for other records. */
function stageSubject({ type, at, item, path, video }: LogRecord) {
  const atMs = Date.parse(String(at));
  if (type === 'stage_subtitle') return { id: `${type} ${String(path)}`, name: String(video), atMs };
  if (type !== 'stage_export') return null;
  return { id: `${type} ${String(item)}`, name: nameOfKey(String(item)), atMs };
}
