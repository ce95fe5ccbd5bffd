/** The command that a batch was made with, as its journal keeps it: without what is secret. */
import * as v from 'valibot';
import { readRecord } from '../../journal/read-record.ts';
import type { LogRecord } from '../../journal/record-line.ts';
import { stripAddress, withoutSecrets } from '../../journal/record-line.ts';
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';

const batchCommand = v.object({
  type: v.literal('batch_command'),
  /** RFC 3339. */
  at: v.pipe(v.string(), v.isoTimestamp()),
  /** The words behind the name of the program, as they were typed. */
  argv: v.array(v.string()),
  /** The working directory, from which relative paths lead on. */
  cwd: v.string(),
  /** The profile that was used; null for one without a name. */
  profile: v.nullable(v.string()),
  kind: v.picklist(JOB_KIND_NAMES),
  /** What the parser made of `argv`, defaults of the project among it. */
  operands: v.array(v.string()),
  options: v.record(v.string(), v.unknown()),
  /** Set where each record of the command has only some of its items: those of one stage. */
  partial: v.optional(v.boolean()),
  /** Keys of the items, in the order of the batch: those that no job was asked for yet stand nowhere else. */
  items: v.array(v.string()),
});

export type BatchCommand = v.InferOutput<typeof batchCommand>;

/** Reads one record of a log; null for one of another type, or of another version of this program. */
export function parseBatchCommand(record: LogRecord): BatchCommand | null {
  return readRecord(batchCommand, record);
}

/** The record of a run; addresses in it, also behind `--flag=` and `name=`, are kept without query and user. */
export function createBatchCommand(command: Omit<BatchCommand, 'type'>): BatchCommand {
  return {
    type: 'batch_command',
    ...command,
    argv: command.argv.map(stripWord),
    operands: command.operands.map(stripAddress),
    options: withoutSecrets(command.options),
  };
}

function stripWord(word: string): string {
  const [, name = '', value = word] = /^(-{0,2}\w[\w.-]*=)(.*)$/s.exec(word) ?? [];
  return `${name}${stripAddress(value)}`;
}

/**
 * Each command once, however often it was run: its newest record, in the order of the first ones. One that watches, or
 * goes through stages, has the items of all its records.
 */
export function foldBatchCommands(records: readonly LogRecord[]): readonly BatchCommand[] {
  const commands = new Map<string, { command: BatchCommand; items: Set<string> }>();
  for (const record of records) {
    const command = parseBatchCommand(record);
    if (command === null) continue;
    const identity = identityOf(command);
    const items = grows(command) ? (commands.get(identity)?.items ?? new Set()) : new Set<string>();
    for (const key of command.items) items.add(key);
    commands.set(identity, { command, items });
  }
  return [...commands.values()].map(({ command, items }) => ({ ...command, items: [...items] }));
}

/** Each of its records has only the items that came with it. */
function grows({ options, partial }: BatchCommand): boolean {
  return options.watch === true || partial === true;
}

/** The records without those of commands that were run again since; for the compaction of a log. */
export function pickLiveCommands(records: readonly LogRecord[]): LogRecord[] {
  const later = new Map<string, Set<string>>();
  const live = records.toReversed().filter((record) => {
    const command = parseBatchCommand(record);
    if (command === null) return true;
    const identity = identityOf(command);
    const known = later.get(identity);
    const isNews = grows(command) && command.items.some((key) => known?.has(key) !== true);
    if (known !== undefined && !isNews) return false;
    const all = known ?? new Set();
    for (const key of command.items) all.add(key);
    later.set(identity, all);
    return true;
  });
  return live.reverse();
}

function identityOf({ argv, cwd, profile }: BatchCommand): string {
  return JSON.stringify([argv, cwd, profile]);
}
