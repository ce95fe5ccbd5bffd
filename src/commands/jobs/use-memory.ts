/** The translation memory of a run. */
import { resolve } from 'node:path';
import type { Delivery } from '../../batch/inputs/delivery.ts';
import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import type { Recorded } from '../../batch/plan/decision.ts';
import { isSent, linesToSend } from '../../batch/recipes/translation.ts';
import type { BatchRecords } from '../../batch/records/batch-records.ts';
import type { Memory } from '../../batch/records/translation-memory.ts';
import { type BatchMemory, findRecall, readRecalls } from '../../batch/run/recall.ts';
import type { Terms } from '../../batch/terms.ts';
import type { Context } from '../context/context.ts';

interface MemoryOptions {
  /** Path as the user wrote it; missing or empty for the one of the folder. */
  readonly memory?: string | undefined;
  readonly anyMemory?: boolean | undefined;
}

/**
 * Opens the memory of translations, and remembers the lines of results that a person has edited since. The caller closes it.
 * @param writes false for a plan, which changes nothing
 * @returns undefined for a result on stdout, whose folder nobody sees
 * @throws Failure (`disk`; `temporary`, RECORDS_BUSY; `usage`, RECORDS_TOO_NEW)
 */
export async function openMemoryFor(
  { memory: written, anyMemory = false }: MemoryOptions,
  { io, terminal }: Pick<Context, 'io' | 'terminal'>,
  delivery: Pick<Delivery, 'folder' | 'toStdout'>,
  writes: boolean,
): Promise<Memory | undefined> {
  const isNamed = written !== undefined && written !== '';
  if (delivery.toStdout === true && !isNamed) return undefined;
  const { memoryPath, openMemory } = await import('../../batch/records/translation-memory.ts');
  const path = isNamed ? resolve(io.cwd, written) : memoryPath(delivery.folder);
  const store = await openMemory(path, { any: anyMemory, writes, now: io.now });
  const edits = writes ? await store.collectEdits() : 0;
  if (edits > 0) terminal.note(`Remembered ${edits} ${edits === 1 ? 'line' : 'lines'} that you edited.`);
  return store;
}

/** Says how many lines were not sent. */
export function noteRemembered(
  { terminal }: Pick<Context, 'terminal'>,
  memory: BatchMemory | undefined,
): void {
  const { lines, known } = memory?.used ?? { lines: 0, known: 0 };
  if (known > 0)
    terminal.note(
      `${lines} ${lines === 1 ? 'line' : 'lines'}, ${known} from memory, ${lines - known} translated.`,
    );
}

interface MemoryPlan {
  readonly delivery: Pick<Delivery, 'template' | 'folder'>;
  readonly planned: readonly PlannedItem[];
  readonly recorded: Recorded & { readonly prepared: BatchRecords['prepared'] };
  readonly terms: Terms | undefined;
}

/** The items of a plan with the lines that are remembered and that are paid, as a run would find them. */
export async function countRemembered(
  memory: BatchMemory | undefined,
  options: { readonly fresh: boolean; readonly maskTerms?: boolean | undefined },
  { delivery, planned, recorded, terms }: MemoryPlan,
): Promise<readonly PlannedItem[]> {
  if (memory === undefined || options.fresh) return planned;
  const { template } = delivery;
  const common = { memory, terms, masksTerms: options.maskTerms ?? false, fresh: false, template };
  const source = { ...common, recorded: readRecalls(recorded.prepared) };
  const counted: PlannedItem[] = [];
  for (const each of planned) {
    const { item, decision } = each;
    const recall = await findRecall(source, item, decision);
    const { input } = item;
    // The lines of a stage may not be known yet.
    const isKnown = item.kind === 'subtitle_translation' && input.type === 'lines' && input.lines.length > 0;
    if (!isKnown || (recall === null && decision.step !== 'new')) {
      counted.push(each);
      continue;
    }
    const texts = recall?.texts ?? input.lines.map(() => null);
    const sent = texts.filter((text) => text === null).length;
    const toSend = recall && linesToSend(item, input, texts, common.masksTerms ? terms : undefined);
    const isPaid = toSend !== null && isSent(delivery, item, toSend, recorded.attempts);
    const counts = { lines: texts.length, from_memory: texts.length - sent, to_pay: isPaid ? 0 : sent };
    const lines = input.lines.map((line, at) => ({ ...line, text: texts[at] ?? '' }));
    counted.push({ ...each, memory: counts, ...(sent === 0 ? { remembered: lines } : {}) });
  }
  return counted;
}
