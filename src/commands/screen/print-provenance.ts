/**
 * Prints the provenance of results on the terminal: steps that were reused, engines instead of preferred ones, missing voices, and
 * cues that are fast or cut off.
 */

import { isStageKey } from '../../batch/inputs/stage-items.ts';
import {
  describeLosses,
  describeWarnings,
  fallbacksOf,
  groupFallbacks,
  groupReuses,
  groupWarnings,
  type ItemProvenance,
} from '../../batch/item-provenance.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { isNoticed } from '../../protocol/provenance.ts';
import type { Terminal } from '../context/context.ts';
import { showPath } from '../context/format.ts';

interface MadeItem {
  readonly label: string;
  readonly kind: JobKind;
  /** Key of the item; null for a job without one. */
  readonly key: string | null;
  readonly provenance: ItemProvenance;
}

/** How to shorten cues that are fast or cut off. A localization of one job leaves no subtitles to edit. */
function adviceFor({ kind }: MadeItem, isInStages: boolean): string {
  if (kind !== 'dubbing' && !isInStages) {
    return (
      'Shorten their text: localize with --stop-after translate, edit the subtitles, then localize with ' +
      '--from-subtitles --clobber. These are new jobs.'
    );
  }
  return isInStages
    ? 'Shorten their text in the subtitles beside the video, then localize with --from-subtitles.'
    : 'Shorten their text in the subtitles, then dub them with --clobber.';
}

/** More warnings would hide the rest of the output. */
const MOST_WARNINGS = 10;

/** Prints the lost terms of an item, each with its place. */
export function printLosses(
  { warn }: Pick<Terminal, 'warn'>,
  { label, provenance }: Pick<MadeItem, 'label' | 'provenance'>,
  cwd: string,
): void {
  const losses = describeLosses(provenance, (path) => (path === '-' ? path : showPath(path, cwd)));
  for (const text of losses.slice(0, MOST_WARNINGS)) warn(text);
  const more = losses.length - MOST_WARNINGS;
  if (more > 0) warn(`${label}: ${more} more terms are lost; --output json and vloc batch report list them.`);
}

/** Prints it for finished items. */
export function printProvenance(
  terminal: Pick<Terminal, 'note' | 'warn'>,
  items: readonly MadeItem[],
  cwd: string,
): void {
  for (const text of [...groupReuses(items), ...groupFallbacks(items)]) terminal.note(`${text}.`);
  const warnings = groupWarnings(items);
  for (const text of warnings.slice(0, MOST_WARNINGS)) terminal.warn(`${text}.`);
  if (warnings.length > MOST_WARNINGS) {
    terminal.warn(
      `There are ${warnings.length - MOST_WARNINGS} more warnings; vloc batch report lists them.`,
    );
  }
  for (const item of items) printLosses(terminal, item, cwd);
  printAdvice(terminal, items);
}

/** Prints how to fix cues that are fast or cut off, each way once. */
function printAdvice({ note }: Pick<Terminal, 'note'>, items: readonly MadeItem[]): void {
  const noticed = items.filter(({ provenance }) => provenance.cues.some(isNoticed));
  const isInStages = noticed.some(({ key }) => key !== null && isStageKey(key));
  for (const advice of new Set(noticed.map((item) => adviceFor(item, isInStages)))) note(advice);
}

interface ProvenancePrinter {
  add(item: MadeItem): void;
  /** Prints what was not printed yet; may be called twice. */
  end(): void;
}

/**
 * Prints it while items finish.
 * @param isMany whether to print warnings and fallbacks when they first occur, each once; else everything at the end
 */
export function createProvenancePrinter(
  terminal: Pick<Terminal, 'note' | 'warn'>,
  isMany: boolean,
  cwd: string,
): ProvenancePrinter {
  const items: MadeItem[] = [];
  const printed = new Set<string>();
  return {
    add(item) {
      items.push(item);
      if (!isMany) return;
      for (const text of fallbacksOf(item.provenance)) {
        if (!printed.has(text)) terminal.note(`${item.label}: ${text}.`);
        printed.add(text);
      }
      for (const text of describeWarnings(item.provenance)) {
        if (!printed.has(text)) terminal.warn(`${item.label}: ${text}.`);
        printed.add(text);
      }
      printLosses(terminal, item, cwd);
    },
    end() {
      const made = items.splice(0);
      if (!isMany) return printProvenance(terminal, made, cwd);
      for (const text of groupReuses(made)) terminal.note(`${text}.`);
      printAdvice(terminal, made);
    },
  };
}
