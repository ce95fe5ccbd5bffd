/** Chooses models by languages, size and memory: pure. */
import { languageName } from '../../protocol/language-tag.ts';
import { matchLanguage } from '../../protocol/languages.ts';
import type { Model, ModelStep } from './catalog.ts';

export interface Wanted {
  /** The spoken language, a BCP 47 tag. */
  readonly from: string;
  /** The languages of the results; empty for transcription only. */
  readonly to: readonly string[];
  /** Only these are needed. */
  readonly steps: readonly ModelStep[];
  /** `small` chooses no large model; `large` allows both. */
  readonly size: Model['size'];
  /** Memory of the machine, in MiB. */
  readonly memoryMib: number;
}

/** Something that no model does, as one sentence without the final stop. */
interface Unmet {
  readonly step: ModelStep;
  /** Null where the language does not matter. */
  readonly language: string | null;
  readonly reason: string;
}

export interface Choice {
  readonly chosen: readonly Model[];
  readonly unmet: readonly Unmet[];
}

/** The rest is for the system and other programs. */
const SHARE_OF_MEMORY = 3 / 4;

interface Need {
  readonly step: ModelStep;
  readonly languages: readonly string[];
  /** Completes `no model`. */
  readonly doing: string;
}

/** For each need, the first model in the order of the catalogue that supports its languages, size and memory. */
export function chooseModels(catalog: readonly Model[], wanted: Wanted): Choice {
  const chosen = new Set<Model>();
  const unmet: Unmet[] = [];
  for (const need of listNeeds(wanted)) {
    const found = catalog.find((model) => findReason([model], need, wanted) === null);
    if (found !== undefined) chosen.add(found);
    else if (need.step !== 'diarize') {
      // This step is optional: all others work without it.
      const reason = findReason(catalog, need, wanted) ?? '';
      unmet.push({ step: need.step, language: need.languages.at(-1) ?? null, reason });
    }
  }
  return { chosen: catalog.filter((model) => chosen.has(model)), unmet };
}

function listNeeds({ from, to, steps }: Wanted): readonly Need[] {
  const others = to.filter((language) => matchLanguage(from, [language]) === null);
  const needs: readonly Need[] = [
    { step: 'recognize', languages: [from], doing: `recognizes ${languageName(from)}` },
    ...others.map(
      (language): Need => ({
        step: 'translate',
        languages: [from, language],
        doing: `translates ${languageName(from)} to ${languageName(language)}`,
      }),
    ),
    ...to.map(
      (language): Need => ({
        step: 'speak',
        languages: [language],
        doing: `speaks ${languageName(language)}`,
      }),
    ),
    { step: 'diarize', languages: [], doing: 'tells speakers apart' },
  ];
  return needs.filter(({ step }) => steps.includes(step));
}

/** Why none of the models meets a need; null if one does. */
function findReason(
  models: readonly Model[],
  { step, languages, doing }: Need,
  { size, memoryMib }: Wanted,
): string | null {
  const able = models.filter(
    (model) =>
      model.step === step &&
      (model.languages.length === 0 ||
        languages.every((language) => matchLanguage(language, model.languages) !== null)),
  );
  if (able.length === 0) return `no model ${doing}`;
  const sized = able.filter((model) => size === 'large' || model.size === 'small');
  if (sized.length === 0) return `no small model ${doing}; with --size large: ${nameAll(able)}`;
  if (sized.some((model) => model.memoryMib <= memoryMib * SHARE_OF_MEMORY)) return null;
  return `no model that ${doing} fits the memory of this machine (${memoryMib} MiB): ${sized
    .map(({ id, memoryMib: needed }) => `${id} needs ${needed} MiB`)
    .join(', ')}`;
}

function nameAll(models: readonly Model[]): string {
  return models.map(({ id }) => id).join(', ');
}
