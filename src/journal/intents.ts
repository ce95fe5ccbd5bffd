/** What has become of each paid call, from its records: pure. One intent is one paid POST. */
import {
  type AcceptedRecord,
  type DownloadedRecord,
  type FinishedRecord,
  type IntendRecord,
  type IntentRecord,
  type PhaseTimes,
  type PublishingRecord,
  parseIntentRecord,
  type RefusedRecord,
} from './intent-records.ts';
import type { LogRecord } from './record-line.ts';

/** How far an intent has come. It only ever goes forward, in this order. */
type Outcome =
  | { readonly phase: 'intended' }
  | { readonly phase: 'refused'; readonly record: RefusedRecord }
  | { readonly phase: 'accepted'; readonly record: AcceptedRecord }
  | { readonly phase: 'finished'; readonly record: FinishedRecord }
  | { readonly phase: 'downloaded'; readonly record: DownloadedRecord };

/** A refused call has made nothing, so the same key may still be accepted when it is sent again. */
export const PHASES = ['intended', 'refused', 'accepted', 'finished', 'downloaded'] as const;

export interface Intent {
  /** The Idempotency-Key. */
  readonly key: string;
  /** Null when that record is lost to damage: what is left still leads to the job that was paid. */
  readonly asked: IntendRecord | null;
  readonly outcome: Outcome;
  /** The files that a run was about to give their names; null when there are none, and once all are downloaded. */
  readonly publishing: PublishingRecord | null;
  readonly times: PhaseTimes;
}

export interface Intents {
  /** By Idempotency-Key, in the order in which they were first heard of. */
  readonly byKey: ReadonlyMap<string, Intent>;
  /** For each item its intents, the newest last. */
  readonly byItem: ReadonlyMap<string, readonly string[]>;
}

/** The state of all intents of a log. Records that come twice count once; those of other types are ignored. */
export function foldIntents(records: readonly LogRecord[]): Intents {
  const tracker = trackIntents();
  for (const record of records) tracker.add(record);
  return tracker.intents;
}

/** The same state, kept up to date record by record while a run goes on. */
interface IntentTracker {
  readonly intents: Intents;
  /** False for a record of another type, which says nothing of an intent. */
  add(record: LogRecord): boolean;
}

export function trackIntents(): IntentTracker {
  const { intents, take } = createFold();
  return {
    intents,
    add(record) {
      const line = parseIntentRecord(record);
      take(line);
      return line !== null;
    },
  };
}

function createFold(): { readonly intents: Intents; take(line: IntentRecord | null): void } {
  const byKey = new Map<string, Intent>();
  const byItem = new Map<string, string[]>();
  return {
    intents: { byKey, byItem },
    take(line) {
      if (line === null) return;
      const known = byKey.get(line.key);
      const next = advance(known ?? newIntent(line.key), line);
      byKey.set(line.key, next);
      if (next.asked === null || known?.asked === next.asked) return;
      const keys = byItem.get(next.asked.item);
      if (keys === undefined) byItem.set(next.asked.item, [next.key]);
      else keys.push(next.key);
    },
  };
}

function newIntent(key: string): Intent {
  return { key, asked: null, outcome: { phase: 'intended' }, publishing: null, times: {} };
}

/** An intent after one more record: the first word about a phase stands (of refusals the last), and none leads back. */
function advance(intent: Intent, { times: earlier, ...line }: IntentRecord): Intent {
  if (line.type === 'publishing') return addPublishing(intent, line);
  const times = { [line.type]: line.at, ...earlier, ...intent.times };
  if (line.type === 'intend') return { ...intent, times, asked: intent.asked ?? line };
  const outcome = outcomeOf(line);
  const gain = PHASES.indexOf(outcome.phase) - PHASES.indexOf(intent.outcome.phase);
  const isNews = gain > 0 || (gain === 0 && outcome.phase === 'refused');
  const publishing = outcome.phase === 'downloaded' ? null : intent.publishing;
  return isNews ? { ...intent, times, outcome, publishing } : { ...intent, times };
}

/** What was downloaded is recorded as such; of what was not, each version of a file may be there. */
function addPublishing(intent: Intent, line: PublishingRecord): Intent {
  if (intent.outcome.phase === 'downloaded') return intent;
  const known = intent.publishing ?? { ...line, files: [] };
  const files = line.files.filter(
    ({ path, sha256 }) => !known.files.some((each) => each.path === path && each.sha256 === sha256),
  );
  return { ...intent, publishing: { ...known, files: [...known.files, ...files] } };
}

function outcomeOf(record: Exclude<IntentRecord, IntendRecord | PublishingRecord>): Outcome {
  switch (record.type) {
    case 'refused':
      return { phase: 'refused', record };
    case 'accepted':
      return { phase: 'accepted', record };
    case 'finished':
      return { phase: 'finished', record };
    case 'downloaded':
      return { phase: 'downloaded', record };
  }
}

/**
 * The question and the last word on each intent, for the compaction of a log; records of other types stay. Nothing is
 * lost by it, since every word carries all that the ones before it said, and the last one is given their times.
 */
export function pickLiveIntents(records: Iterable<LogRecord>): LogRecord[] {
  const { intents, take } = createFold();
  const order: (LogRecord | string)[] = [];
  for (const record of records) {
    const line = parseIntentRecord(record);
    if (line === null) order.push(record);
    else if (!intents.byKey.has(line.key)) order.push(line.key);
    take(line);
  }
  return order.flatMap((place): LogRecord[] => {
    if (typeof place !== 'string') return [place];
    const intent = intents.byKey.get(place);
    return intent === undefined ? [] : recordsOf(intent);
  });
}

function recordsOf({ asked, outcome, publishing, times }: Intent): LogRecord[] {
  const last = outcome.phase === 'intended' ? null : { ...outcome.record, times };
  return [asked, last, publishing].filter((record) => record !== null);
}
