/** The recipe of an item that is too long for one job, or has several voices: its parts have a job each, whose results are joined. */

import type { FileInput, JobInput } from '../input.ts';
import type { BatchItem } from '../item.ts';
import type { JoinTask } from '../preparation.ts';
import type { BatchPlace } from '../records/record-folder.ts';
import { byLabel, makeResult } from '../run/make-result.ts';
import { type CutVideo, type Parts, partsOfLines, partsOfVideo } from '../run/parts.ts';
import { jobOf, type Known, type Recipe, resultsOf, type Step, work } from '../run/step.ts';

/** @throws TypeError for an input that is sent whole */
export function splitRecipe(place: BatchPlace, item: BatchItem): Recipe {
  const { input } = item;
  if (input.type === 'lines') return splitLines(place, item, input);
  if (input.type === 'file') return splitVideo(place, item, input);
  throw new TypeError(`${input.type} cannot be cut into parts`);
}

function splitLines(
  place: BatchPlace,
  item: BatchItem,
  { parts: all, sha256 }: JobInput & { readonly type: 'lines' },
): Recipe {
  const cut = all ?? [];
  const parts = partsOfLines(place, item, cut, { source: sha256, sha256 });
  const offsetsMs = cut.map(({ offsetMs }) => offsetMs);
  const ends = cut.map(({ offsetMs, lines }) => offsetMs + Math.max(0, ...lines.map(({ end_ms }) => end_ms)));
  const whole = { type: 'lines', offsetsMs, endMs: Math.max(0, ...ends) } as const;
  return (known) => joined(known, item, { parts, needs: [], whole });
}

function splitVideo(place: BatchPlace, item: BatchItem, input: FileInput): Recipe {
  const cutting = work('cut', [], async ({ run, order, atEnd }): Promise<CutVideo> => {
    const source = await run.preparations.open(item, input, order);
    atEnd(source.release);
    const used = new Set<number>();
    const use = (at: number) => {
      if (used.add(at).size === source.files.length) source.release();
    };
    return { ...source, use };
  });
  return (known) => {
    const cut = known.value(cutting);
    if (cut === undefined) return work('join', [cutting], unready);
    const whole = { type: 'video', split: cut.split, source: input.path } as const;
    return joined(known, item, { parts: partsOfVideo(place, item, cut), needs: [cutting], whole });
  };
}

async function unready(): Promise<never> {
  throw new TypeError('the parts are not known yet');
}

interface Joining {
  readonly parts: Parts;
  readonly needs: readonly Step[];
  readonly whole: JoinTask['whole'];
}

function joined(known: Known, item: BatchItem, { parts, needs, whole }: Joining): ReturnType<Recipe> {
  const jobs = parts.items.map((part) => jobOf(part, needs, { group: 'parts' }));
  const results = resultsOf(known, jobs);
  const task = { kind: item.kind, parts: results.map(({ files }) => byLabel(item, files)), whole };
  return work('join', jobs, ({ run }) =>
    makeResult(run, item, { ...parts, results, make: (bench) => run.batch.preparation.join(task, bench) }),
  );
}
