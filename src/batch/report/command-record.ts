/** The commands of a batch, as the journal keeps them: without secrets. */
import * as v from 'valibot';
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';
import { readRecord } from '../records/read-record.ts';
import type { LogRecord } from '../records/record-line.ts';
import { stripAddress, withoutSecrets } from '../records/record-line.ts';

const batchCommand = v.object({
  type: v.literal('batch_command'),
  /** RFC 3339. */
  at: v.pipe(v.string(), v.isoTimestamp()),
  /** The arguments as typed, without the program name. */
  argv: v.array(v.string()),
  /** The working directory, to which relative paths refer. */
  cwd: v.string(),
  /** Name of the machine. Records of earlier versions have none. */
  host: v.optional(v.string()),
  /** The profile; null for one without a name. */
  profile: v.nullable(v.string()),
  kind: v.picklist(JOB_KIND_NAMES),
  /** The parsed `argv`, including project defaults. */
  operands: v.array(v.string()),
  options: v.record(v.string(), v.unknown()),
  /** True if each record of the command has only the items of one stage. */
  partial: v.optional(v.boolean()),
  /** Keys of the items, in the order of the batch. Items without a job have no other record. */
  items: v.array(v.string()),
});

export type BatchCommand = v.InferOutput<typeof batchCommand>;

/** Reads a record; null for one of another type, or of another version of vloc. */
export function parseBatchCommand(record: LogRecord): BatchCommand | null {
  return readRecord(batchCommand, record);
}

/** The record of a run. Addresses in it, also after `--flag=` and `name=`, lose query and user. */
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
 * Each command once, however often it was run: its newest record, in the order of the first records. Commands that watch or
 * run in stages have the items of all their records.
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

/** Whether each record has only the items that were added at the time. */
function grows({ options, partial }: BatchCommand): boolean {
  return options.watch === true || partial === true;
}

/** Drops records of commands that were run again since, to compact a log. */
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
