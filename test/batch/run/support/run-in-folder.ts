/** Runs a batch as a command does: locks its folder, decides about its items with the records in it, and closes it. */
import { decideItems } from '../../../../src/batch/plan/decide-items.ts';
import type { Batch, RunOutcome } from '../../../../src/batch/run/batch.ts';
import { choicesOf, openBatch } from '../../../../src/batch/run/open-batch.ts';
import { runBatch } from '../../../../src/batch/run-batch.ts';

export type UnopenedBatch = Omit<Batch, 'journal'>;

export async function runInFolder(batch: UnopenedBatch): Promise<readonly RunOutcome[]> {
  const { tasks, delivery, options, runtime, signal, preface } = batch;
  const opened = await openBatch(delivery);
  try {
    const { decisions, renamed } = await decideItems(
      tasks.map(({ item }) => item),
      opened.recorded(),
      choicesOf(options, delivery, runtime.now(), signal),
    );
    const decided = tasks.map((task, position) => ({
      ...task,
      decision: decisions[position] ?? task.decision,
    }));
    const { journal } = opened;
    return await runBatch({ ...batch, journal, tasks: decided, preface: [...preface, ...renamed] });
  } finally {
    await opened.close();
  }
}
