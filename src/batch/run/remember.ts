/** Remembers the lines of finished translations. */
import { readFile } from 'node:fs/promises';
import { Failure } from '../../base/failure.ts';
import type { BatchItem, ItemFile } from '../item.ts';
import { alignTexts, memoryRequestOf } from '../records/translation-memory.ts';
import { sentencesOfItem } from './recall.ts';
import type { Run } from './run.ts';

/**
 * Remembers what a translation says, before it is recorded as done: a run that is killed in between does it again. A memory that
 * cannot be written costs no result, so it is a warning.
 */
export async function rememberResult(run: Run, item: BatchItem, files: readonly ItemFile[]): Promise<void> {
  const { memory, warn, delivery } = run.batch;
  const { input } = item;
  const [file] = files;
  const isWhole = item.kind === 'subtitle_translation' && item.part === undefined;
  if (memory === undefined || file === undefined || !isWhole || input.type !== 'lines') return;
  try {
    const { readWordLines } = await import('../../media/subtitles/read-subtitle.ts');
    const texts = alignTexts(input.lines, readWordLines(await readFile(file.path), file.path));
    const sentences = await sentencesOfItem(run.batch, item);
    const request = memoryRequestOf(item, memory.origin);
    await memory.store.remember(request, sentences, texts);
    // A result of a stage is not what a person edits.
    if (item.isInner === true || delivery.toStdout === true) return;
    const cues = input.lines.map(({ start_ms }, at) => ({ start_ms, text: texts[at] ?? null }));
    await memory.store.noteResult(file.path, request, sentences, cues);
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) throw error;
    const why = error instanceof Failure ? error.facts.message : String(error);
    if (!run.recalled.isWarned)
      warn(`${item.label} is not remembered: ${why}. Its lines would be paid again.`);
    run.recalled.isWarned = true;
  }
}
