/** The folder that an operand of the batch commands names, as its journal knows it. */
import { resolve } from 'node:path';
import { type BatchFacts, readBatchFacts } from '../../batch/report/batch-facts.ts';
import { describeBatchDamage, findWorker, readBatchLog, type Worker } from '../../batch/report/read-batch.ts';
import type { Operands } from '../../context/command.ts';
import type { Context } from '../../context/context.ts';
import { Failure } from '../../errors/failure.ts';
import type { LogRecord } from '../../journal/record-line.ts';

export const BATCH_OPERAND = {
  name: 'dir',
  count: 'one',
  help: 'folder of the results, the one that --out named',
} as const satisfies Operands;

export interface OpenBatch {
  /** Absolute. */
  readonly folder: string;
  readonly facts: BatchFacts;
  /** All of the journal that can be read. */
  readonly records: readonly LogRecord[];
  /** A sentence for each damaged place of the journal. */
  readonly damage: readonly string[];
  /** The process that works there; null when none does. */
  readonly worker: Worker | null;
}

/** @throws Failure (`usage`) when no batch was ever run into the folder, `disk` */
export async function openBatch({ io }: Pick<Context, 'io'>, operand: string): Promise<OpenBatch> {
  const folder = resolve(io.cwd, operand);
  const [content, worker] = await Promise.all([readBatchLog(folder), findWorker(folder)]);
  const facts = readBatchFacts(content, folder, io.now());
  const isNothing = facts.items.length === 0 && facts.stray_jobs.length === 0 && facts.damaged === 0;
  if (isNothing && worker === null) {
    throw new Failure({
      category: 'usage',
      code: 'NO_BATCH',
      message: `there is no batch in ${folder}`,
      advice: 'Name the folder that --out named; without --out it was the folder the command ran in.',
    });
  }
  return { folder, facts, records: content.records, damage: describeBatchDamage(folder, content), worker };
}
