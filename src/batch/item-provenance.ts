/** Combines and describes the provenance of results. Pure. */

import { firstWords } from '../protocol/pair-cues.ts';
import { NOTICED_SHIFT, NOTICED_TEMPO, type Provenance, totalTempo } from '../protocol/provenance.ts';
import { formatTime } from '../protocol/srt.ts';
import { nameCue } from '../protocol/subtitle-line.ts';
import { describeLoss, type TermLoss } from './terms.ts';

/** Cues that were spoken as one text, and what was done to make them fit. */
export type ItemCue = Provenance['cues'][number] & {
  /** From 1, for an item in parts: each part counts its own cues. */
  readonly part?: number;
};

/** A cue of a source without a translation. */
export interface MissingCue {
  /** Its number in the source, from 1. */
  readonly cue: number;
  readonly start_ms: number;
  readonly end_ms: number;
  /** The text of the source. */
  readonly text: string;
}

export interface ItemProvenance {
  /** Each step with each engine once. */
  readonly engines: Provenance['engines'];
  readonly cues: readonly ItemCue[];
  /** Terms of --terms that its translation has lost; missing without --terms, and for none. */
  readonly lost_terms?: readonly TermLoss[];
  /** Cues that its translation lacks; empty if a person has filled them in, missing if all came. */
  readonly missing_cues?: readonly MissingCue[];
}

/** How an item was made whose jobs were made in these ways; null if no job says it. */
export function combineJobs(jobs: readonly (ItemProvenance | null)[]): ItemProvenance | null {
  const engines = distinct(jobs.flatMap((provenance) => provenance?.engines ?? []));
  const cues = distinct(jobs.flatMap((provenance) => provenance?.cues ?? []));
  const lost = jobs.flatMap((provenance) => provenance?.lost_terms ?? []);
  const missing = jobs.flatMap((provenance) => provenance?.missing_cues ?? []);
  if (engines.length + cues.length + lost.length + missing.length === 0) return null;
  return {
    engines,
    cues,
    ...(lost.length === 0 ? {} : { lost_terms: lost }),
    ...(missing.length === 0 ? {} : { missing_cues: missing }),
  };
}

/** The cues with the numbers that they have elsewhere, without those that have none there. */
export function renumberCues<T extends { readonly cues: readonly number[] }>(
  cues: readonly T[],
  numberOf: (cue: number) => number | null,
): T[] {
  return cues.flatMap((cue) => {
    const numbers = cue.cues.flatMap((number) => numberOf(number) ?? []);
    return numbers.length === 0 ? [] : [{ ...cue, cues: numbers }];
  });
}

function distinct<T>(values: readonly T[]): readonly T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

/** The same for the jobs of parts, in order. The cues of an only part are those of the item. */
export function combineParts(parts: readonly (ItemProvenance | null)[]): ItemProvenance | null {
  if (parts.length === 1) return combineJobs(parts);
  return combineJobs(
    parts.map((provenance, place) => {
      const inPart = <T>(each: T) => ({ ...each, part: place + 1 });
      const engines = provenance?.engines.map((use) =>
        use.dropped === undefined ? use : { ...use, dropped: use.dropped.map(inPart) },
      );
      return provenance && { ...provenance, engines: engines ?? [], cues: provenance.cues.map(inPart) };
    }),
  );
}

type EngineUse = Provenance['engines'][number];

const STEP_WORDS: Readonly<Record<EngineUse['step'], string>> = {
  separate: 'separated',
  recognize: 'recognized',
  translate: 'translated',
  speak: 'spoken',
  export: 'picture encoded, because it cannot be copied into an MP4,',
};

/** `spoken by espeak-ng instead of openai kokoro, which does not support the language`; `separated by builtin (reused)` */
export function describeUse({
  step,
  engine,
  skipped,
  reused = false,
  where,
  silent = false,
  unshown,
  mixed,
  dropped,
  residue,
}: EngineUse): string {
  if (unshown !== undefined) return `burned in by ${engine}`;
  if (mixed !== undefined) return `sound of ${mixed} channels mixed to two by ${engine}`;
  const facts = [
    where,
    reused && 'reused',
    silent && 'no voice found',
    residue !== undefined && `voice left in the background: ${residue} dB`,
    dropped !== undefined && `${countTexts(dropped.length)} dropped`,
  ].filter((fact) => fact !== false && fact !== undefined);
  const made = `${STEP_WORDS[step]} by ${engine}${facts.map((fact) => ` (${fact})`).join('')}`;
  if (skipped.length === 0) return made;
  const verb = skipped.length === 1 ? 'does' : 'do';
  return `${made} instead of ${skipped.join(' and ')}, which ${verb} not support the language`;
}

/** The steps for which a preferred engine could not be used, and what an export changed unasked, in words. */
export function fallbacksOf({ engines }: ItemProvenance): readonly string[] {
  return engines
    .filter(({ step, engine, skipped, unshown }) =>
      step === 'export' ? unshown === undefined : skipped.length > 0 || THROUGH.test(engine),
    )
    .map(describeUse);
}

/** A translator that had a language in between is named `apertium through es`. */
const THROUGH = / through [a-z]+$/;

const STAGE_WORDS: Readonly<Record<EngineUse['step'], string>> = {
  separate: 'separation',
  recognize: 'recognition',
  translate: 'translation',
  speak: 'dub',
  export: 'export',
};

/** `separation and recognition reused, not done again`; null if every step was done for this item. */
export function describeReuse({ engines }: ItemProvenance): string | null {
  const steps = new Set(engines.flatMap(({ step, reused = false }) => (reused ? step : [])));
  if (steps.size === 0) return null;
  const words = [...steps].map((step) => STAGE_WORDS[step]);
  const list = new Intl.ListFormat('en-GB').format(words);
  return `${list} reused, not done again`;
}

/** `spoken 1.20 times as fast, stretched to 1.50 times the tempo, 0.4 s cut off`; `0.8 s after its cue` */
export function describeFit({ speed, tempo, cut_seconds: cut, shift_seconds: shift = 0 }: ItemCue): string {
  const parts = [
    speed === 1 ? null : `spoken ${times(speed)} as fast`,
    tempo === 1 ? null : `stretched to ${times(tempo)} the tempo`,
    cut === 0 ? null : `${cut.toFixed(1)} s cut off`,
    shift === 0 ? null : `${Math.abs(shift).toFixed(1)} s ${shift > 0 ? 'after' : 'before'} its cue`,
  ];
  return parts.filter((part) => part !== null).join(', ');
}

function times(factor: number): string {
  return `${factor.toFixed(2)} times`;
}

interface CueList {
  readonly count: number;
  readonly numbers: string;
}

/**
 * Which cues were cut off at their end; null if none was.
 * @param most numbers that are listed
 */
export function cutsOf({ cues }: ItemProvenance, most = Number.POSITIVE_INFINITY): CueList | null {
  return listCues(
    cues.filter(({ fit }) => fit === 'cut'),
    (_, number) => String(number),
    most,
  );
}

/** Which cues are spoken so fast that it is noticed, each with its tempo: `4 (1.28)`; null if none is. */
export function fastOf({ cues }: ItemProvenance, most = Number.POSITIVE_INFINITY): CueList | null {
  return listCues(
    cues.filter((cue) => totalTempo(cue) > NOTICED_TEMPO),
    (cue, number) => `${number} (${totalTempo(cue).toFixed(2)})`,
    most,
  );
}

function listCues(
  cues: readonly ItemCue[],
  write: (cue: ItemCue, number: number) => string,
  most: number,
): CueList | null {
  const all = cues.flatMap((cue) => cue.cues.map((number) => ({ part: cue.part, text: write(cue, number) })));
  if (all.length === 0) return null;
  const listed = Map.groupBy(all.slice(0, most), ({ part }) => part);
  const lists = [...listed].map(([part, own]) => {
    const numbers = own.map(({ text }) => text).join(', ');
    return part === undefined ? numbers : `part ${part}: ${numbers}`;
  });
  const rest = all.length > most ? ` and ${all.length - most} more` : '';
  return { count: all.length, numbers: lists.join('; ') + rest };
}

/** `2 cues were too long to be spoken in their time and are cut off: 4, 17`; null if none was. */
export function describeCuts(provenance: ItemProvenance): string | null {
  const cuts = cutsOf(provenance);
  if (cuts === null) return null;
  const what =
    cuts.count === 1
      ? '1 cue was too long to be spoken in its time and is'
      : `${cuts.count} cues were too long to be spoken in their time and are`;
  return `${what} cut off: ${cuts.numbers}`;
}

/** `2 cues are spoken more than 1.15 times as fast as natural: 4 (1.28), 17 (1.60)`; null if none is. */
export function describeFast(provenance: ItemProvenance): string | null {
  const fast = fastOf(provenance);
  if (fast === null) return null;
  const what = fast.count === 1 ? '1 cue is' : `${fast.count} cues are`;
  return `${what} spoken more than ${NOTICED_TEMPO} times as fast as natural: ${fast.numbers}`;
}

/** `2 cues are spoken more than 0.6 s from their time: 4 (0.8 s late), 17 (0.7 s early)`; null if none is. */
function describeShifted({ cues }: ItemProvenance): string | null {
  const shifted = listCues(
    cues.filter((cue) => cue.shift_seconds !== undefined),
    ({ shift_seconds: shift = 0 }, number) =>
      `${number} (${Math.abs(shift).toFixed(1)} s ${shift > 0 ? 'late' : 'early'})`,
    Number.POSITIVE_INFINITY,
  );
  if (shifted === null) return null;
  const what = shifted.count === 1 ? '1 cue is' : `${shifted.count} cues are`;
  return `${what} spoken more than ${NOTICED_SHIFT} s from ${shifted.count === 1 ? 'its' : 'their'} time: ${shifted.numbers}`;
}

/** `no voice was found, so the voice track is silent`; null if one was found, or none was looked for. */
export function describeSilence({ engines }: ItemProvenance): string | null {
  const separations = engines.filter(({ step }) => step === 'separate');
  const silent = separations.filter((use) => use.silent === true);
  if (silent.length === 0) return null;
  return silent.length === separations.length
    ? 'no voice was found, so the voice track is silent'
    : 'no voice was found in some of its parts, so the voice track is silent there';
}

/** Which level of the original voice is left in the background; null if it is not noticed, or not measured. */
export function describeResidue({ engines }: ItemProvenance): string | null {
  const levels = engines.flatMap(({ residue }) => residue ?? []);
  if (levels.length === 0) return null;
  return `the original voice is heard in the background, only ${-Math.max(...levels)} dB quieter than it was, because the music is about as loud`;
}

export type DroppedText = NonNullable<EngineUse['dropped']>[number];

export function droppedOf({ engines }: ItemProvenance): readonly DroppedText[] {
  return engines.flatMap(({ dropped = [] }) => dropped);
}

const DROP_WORDS: Readonly<Record<DroppedText['reason'], string>> = {
  loop: 'it repeats itself',
  fast: 'nobody speaks so fast',
  silence: 'no speech is heard there',
  copy: 'it repeats the cue before',
};

/** `"Thank you." was recognized and dropped, because it repeats itself` */
export function describeDrop({ text, reason }: DroppedText): string {
  return `"${firstWords(text, FEW_WORDS)}" was recognized and dropped, because ${DROP_WORDS[reason]}`;
}

function countTexts(count: number): string {
  return count === 1 ? '1 text' : `${count} texts`;
}

/** `2 recognized texts were dropped: 00:00:04,000 "Thank you." (it repeats itself), …`; null if none was */
function describeDropped(provenance: ItemProvenance): string | null {
  const all = droppedOf(provenance);
  if (all.length === 0) return null;
  const names = all.slice(0, FEW_CUES).map(({ part, start_ms, text, reason }) => {
    const where = part === undefined ? '' : `part ${part}, `;
    return `${where}${formatTime(start_ms)} "${firstWords(text, FEW_WORDS)}" (${DROP_WORDS[reason]})`;
  });
  const rest = all.length > FEW_CUES ? ` and ${all.length - FEW_CUES} more` : '';
  const what = all.length === 1 ? '1 recognized text was' : `${all.length} recognized texts were`;
  return `${what} dropped: ${names.join(', ')}${rest}`;
}

/** Characters that a message lists. */
const FEW_CHARACTERS = 5;

/** `no font here has 𒾐 (U+12F90), which …`; null if all characters of burned subtitles are shown. */
function describeUnshown({ engines }: ItemProvenance): string | null {
  const all = [...new Set(engines.flatMap(({ unshown = [] }) => unshown))];
  if (all.length === 0) return null;
  const names = all.slice(0, FEW_CHARACTERS).map((character) => {
    const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
    return `${character} (U+${code})`;
  });
  const rest = all.length > FEW_CHARACTERS ? ` and ${all.length - FEW_CHARACTERS} more` : '';
  return (
    `no font where the export ran has ${names.join(', ')}${rest}, so the subtitles show a box there; ` +
    'install one that has it, such as the Debian packages fonts-noto-core and fonts-symbola, and run it again with --fresh'
  );
}

/** Ways in which a result is worse than requested, each as a sentence without its stop. */
export function describeWarnings(provenance: ItemProvenance): readonly string[] {
  return [
    describeSilence(provenance),
    describeResidue(provenance),
    describeDropped(provenance),
    describeUnshown(provenance),
    describeCuts(provenance),
    describeFast(provenance),
    describeShifted(provenance),
  ].filter((text) => text !== null);
}

/** `TERM_LOST talk.es.srt, cue 12: "Acme" is missing in "by Acmé"` for each lost term. @param nameFile of an absolute path */
export function describeLosses(
  { lost_terms: losses = [] }: ItemProvenance,
  nameFile: (path: string) => string,
): readonly string[] {
  return losses.map((loss) => `TERM_LOST ${nameCue(nameFile(loss.file), loss.row)}: ${describeLoss(loss)}`);
}

/** The code of a translation that lacks cues of its source. */
export const CUES_MISSING = 'CUES_MISSING';

/** Cues that a message names, and the characters of each: as many as help to find the place. */
const FEW_CUES = 5;
const FEW_WORDS = 30;

/** `2 cues have no translation: 3 at 00:00:04,000 "and good night", 7 at 00:00:12,500 "Goodbye."` */
export function describeMissingCues(missing: readonly MissingCue[]): string {
  const names = missing.slice(0, FEW_CUES).map(({ cue, start_ms, text }) => {
    return `${cue} at ${formatTime(start_ms)} "${firstWords(text, FEW_WORDS)}"`;
  });
  const rest = missing.length > FEW_CUES ? ` and ${missing.length - FEW_CUES} more` : '';
  const what = missing.length === 1 ? '1 cue has' : `${missing.length} cues have`;
  return `${what} no translation: ${names.join(', ')}${rest}`;
}

/** Labels that a message lists. */
const FEW_LABELS = 5;

interface LabelledProvenance {
  readonly label: string;
  readonly provenance: ItemProvenance;
}

/** Each use of a fallback with the items that it concerns: `a.mp4 → gl, b.mp4 → gl: spoken by …`. */
export function groupFallbacks(items: readonly LabelledProvenance[]): readonly string[] {
  return groupTexts(items, fallbacksOf);
}

/** The same for steps that were reused. */
export function groupReuses(items: readonly LabelledProvenance[]): readonly string[] {
  return groupTexts(items, (provenance) => describeReuse(provenance) ?? []);
}

/** The same for what is worse than requested. */
export function groupWarnings(items: readonly LabelledProvenance[]): readonly string[] {
  return groupTexts(items, describeWarnings);
}

function groupTexts(
  items: readonly LabelledProvenance[],
  describe: (provenance: ItemProvenance) => string | readonly string[],
): readonly string[] {
  const uses = items.flatMap(({ label, provenance }) =>
    [describe(provenance)].flat().map((text) => ({ label, text })),
  );
  return [...Map.groupBy(uses, ({ text }) => text)].map(([text, own]) => {
    const labels = [...new Set(own.map(({ label }) => label))];
    const rest = labels.length > FEW_LABELS ? ` and ${labels.length - FEW_LABELS} more` : '';
    return `${labels.slice(0, FEW_LABELS).join(', ')}${rest}: ${text}`;
  });
}
