/** A run of a job command: what it takes, and the record that it leaves of itself. */
import { resolve } from 'node:path';
import { namedPaths } from '../../batch/plan/candidate.ts';
import type { Delivery } from '../../batch/plan/delivery.ts';
import { createBatchCommand } from '../../batch/report/command-record.ts';
import type { Batch, RunOptions } from '../../batch/run/batch.ts';
import { SYSTEM_RUNTIME } from '../../client/runtime.ts';
import type { Connection } from '../../context/connection.ts';
import type { Context } from '../../context/context.ts';
import { openLocalRecords } from '../../context/local-records.ts';
import type { LogRecord } from '../../journal/record-line.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { createPreparation } from '../prepare/preparation.ts';

export interface JobRun {
  readonly kind: JobKind;
  readonly context: Context;
  readonly operands: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly runOptions: RunOptions;
  readonly delivery: Delivery;
  readonly connection: Connection;
}

/** The batch of a run, but for its items. */
export function batchOf({
  kind,
  context,
  operands,
  options,
  runOptions,
  delivery,
  connection,
}: JobRun): Omit<Batch, 'tasks' | 'preface' | 'listen'> {
  const { io, signal, terminal } = context;
  return {
    delivery: { ...delivery, folder: resolve(io.cwd, delivery.folder) },
    connection,
    inputFiles: namedPaths(io.cwd, operands, options),
    records: openLocalRecords(connection, io.now, runOptions.jobs, terminal.warn),
    options: runOptions,
    runtime: { ...SYSTEM_RUNTIME, ...io.pace?.runtime },
    preparation: createPreparation(io),
    command: kind,
    warn: terminal.warn,
    signal,
  };
}

/** The record of the command for the journal. @param items their keys */
export function commandRecord(
  { kind, context, operands, options }: Omit<JobRun, 'connection' | 'runOptions'>,
  items: readonly string[],
): LogRecord {
  const { io, commandLine, service } = context;
  return createBatchCommand({
    at: new Date(io.now()).toISOString(),
    argv: [...commandLine],
    cwd: io.cwd,
    profile: service.profile ?? null,
    kind,
    operands: [...operands],
    options,
    items: [...items],
  });
}
