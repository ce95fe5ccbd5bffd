/**
 * Says on the terminal how results were made: which steps were reused, by which engine instead of a preferred one, without a
 * voice, and which cues are cut off.
 */
import {
  describeCuts,
  describeWarnings,
  fallbacksOf,
  groupFallbacks,
  groupReuses,
  groupWarnings,
  type ItemMaking,
} from '../../batch/report/making.ts';
import { isStageKey } from '../../batch/stages/items.ts';
import type { Terminal } from '../../context/context.ts';
import type { JobKind } from '../../protocol/kind-names.ts';

interface MadeItem {
  readonly label: string;
  readonly kind: JobKind;
  /** Key of the item; null for a job without one. */
  readonly key: string | null;
  readonly making: ItemMaking;
}

/** How to shorten cues that are cut off. A localization of one job leaves no subtitles to edit. */
function adviceFor({ kind, key }: MadeItem): string {
  if (kind !== 'dubbing') {
    return (
      'Shorten their text: localize with --stop-after translate, edit the subtitles, then localize with ' +
      '--from-subtitles --clobber. These are new jobs.'
    );
  }
  return key !== null && isStageKey(key)
    ? 'Shorten their text in the subtitles beside the video, then localize with --from-subtitles.'
    : 'Shorten their text in the subtitles, then dub them with --clobber.';
}

/** More warnings would hide the rest of the output. */
const MOST_WARNINGS = 10;

/** Says it for finished items. */
export function tellMakings(terminal: Pick<Terminal, 'note' | 'warn'>, items: readonly MadeItem[]): void {
  for (const text of [...groupReuses(items), ...groupFallbacks(items)]) terminal.note(`${text}.`);
  const warnings = groupWarnings(items);
  for (const text of warnings.slice(0, MOST_WARNINGS)) terminal.warn(`${text}.`);
  if (warnings.length > MOST_WARNINGS) {
    terminal.warn(
      `There are ${warnings.length - MOST_WARNINGS} more warnings; vloc batch report lists them.`,
    );
  }
  tellAdvice(
    terminal,
    items.filter(({ making }) => describeCuts(making) !== null),
  );
}

function tellAdvice({ note }: Pick<Terminal, 'note'>, items: readonly MadeItem[]): void {
  for (const advice of new Set(items.map(adviceFor))) note(advice);
}

interface MakingTeller {
  add(item: MadeItem): void;
  /** Says what is still to be said; may be called twice. */
  end(): void;
}

/**
 * Says it while items finish.
 * @param isMany whether to print warnings and fallbacks when they first occur, each once; else everything at the end
 */
export function createMakingTeller(terminal: Pick<Terminal, 'note' | 'warn'>, isMany: boolean): MakingTeller {
  const items: MadeItem[] = [];
  const printed = new Set<string>();
  return {
    add(item) {
      items.push(item);
      if (!isMany) return;
      for (const text of fallbacksOf(item.making)) {
        if (!printed.has(text)) terminal.note(`${item.label}: ${text}.`);
        printed.add(text);
      }
      for (const text of describeWarnings(item.making)) {
        if (!printed.has(text)) terminal.warn(`${item.label}: ${text}.`);
        printed.add(text);
      }
    },
    end() {
      const made = items.splice(0);
      if (!isMany) return tellMakings(terminal, made);
      for (const text of groupReuses(made)) terminal.note(`${text}.`);
      tellAdvice(
        terminal,
        made.filter(({ making }) => describeCuts(making) !== null),
      );
    },
  };
}
