/** Notes about files that are prepared before they are sent, or of which a part is. */

import { describeDuration, formatBytes } from '../../base/amounts.ts';
import { describeUnits } from '../../protocol/metering.ts';
import { bytesToSend, type FileInput } from '../input.ts';
import { speakersOf } from '../inputs/items.ts';
import type { PlannedItem } from './batch-plan.ts';
import { isEncodedAnew } from './disk-space.ts';
import { countAgain, type Redub } from './redub.ts';

/** Further files are counted, not named. */
const MOST_NAMES = 3;

/**
 * A sentence for each kind of preparation, with the reason and the files. A file with several target languages is named
 * once; finished items are omitted, unless they could be made better.
 * @param dubbed keys of translations that a later stage dubs
 */
export function describePreparations(
  planned: readonly PlannedItem[],
  dubbed: ReadonlySet<string> = new Set(),
): readonly string[] {
  return describeFiles(planned, (each) => sentencesOf(each, dubbed.has(each.item.key)));
}

/** The same for pictures and sound that an export on this machine changes, although nobody asked for it. */
export function describeEncodings(planned: readonly PlannedItem[]): readonly string[] {
  return describeFiles(planned, ({ item: { kind, fields, input }, decision }) => {
    if (kind !== 'auto_localization' || input.type !== 'file' || !isDue(decision)) return [];
    const { uncopiedCodec: codec, channels } = input;
    const isDubbed = fields.mode !== 'subtitles_only';
    return [
      ...(codec === undefined || isEncodedAnew(fields)
        ? []
        : [`the picture (${codec}) is encoded again, because it cannot be copied into an MP4`]),
      ...(channels === undefined || !isDubbed
        ? []
        : [`its ${channels} channels of sound are mixed to two; --keep-audio keeps them as a second track`]),
    ];
  });
}

function describeFiles(
  planned: readonly PlannedItem[],
  describe: (planned: PlannedItem) => string[],
): readonly string[] {
  const files = new Map<string, Set<string>>();
  for (const each of planned) {
    for (const sentence of describe(each)) {
      files.set(sentence, (files.get(sentence) ?? new Set()).add(each.item.input.label));
    }
  }
  return [...files].map(([sentence, labels]) => `${nameAll([...labels])}: ${sentence}.`);
}

function isDue({ step }: PlannedItem['decision']): boolean {
  return step === 'new' || step === 'continue';
}

function sentencesOf({ item, decision }: PlannedItem, isDubbed: boolean): string[] {
  const { input, targetLanguage } = item;
  if (decision.step === 'done' && decision.otherLines !== undefined)
    return [describeOtherLines(decision.otherLines, targetLanguage, isDubbed)];
  if (!isDue(decision)) return [];
  if (decision.step === 'new' && decision.redub !== undefined) return [describeRedub(decision.redub)];
  if (input.type === 'lines' && input.voices !== undefined) return [describeVoices(item)];
  if (input.type === 'lines') return input.parts === null ? [] : [describeParts(input.parts.length, 'gaps')];
  const burned =
    item.look === undefined
      ? []
      : ['its subtitles are burned into the delivered video on this machine, free'];
  const marked =
    item.mark === true ? ['the delivered video is marked as machine-made on this machine, free'] : [];
  const after = [...burned, ...describeSound(item), ...marked];
  if (input.type !== 'file' || input.preparation === null) return after;
  const { parts } = input.preparation;
  const cut = parts > 1 ? [describeParts(parts, 'silences')] : [];
  return [...describeConversion(input), ...cut, ...after];
}

function describeOtherLines(count: number, language: string | null, isDubbed: boolean): string {
  const lines = count === 1 ? '1 line' : `${count} lines`;
  const paid = isDubbed
    ? 'pays for lines that are not in the memory and for dubbing what changes; --clobber --dry-run shows the price'
    : 'pays only for lines that are not in the memory';
  return `the memory has newer translations of ${lines} (${language}); --clobber writes the result again with them, and ${paid}`;
}

function describeRedub(redub: Redub): string {
  const count = countAgain(redub);
  if (count === 0) return 'only lines were removed, so they become silent in the existing dub, without a job';
  const verb = count === 1 ? 'is' : 'are';
  return `${count} of ${redub.total} lines ${verb} dubbed again and put into the existing dub; --whole dubs all of them`;
}

const MANNERS = {
  remuxed: 'remuxed to MP4 without re-encoding',
  transcoded: 'transcoded to MP4',
  still: 'put into an MP4 with a still picture',
} as const;

function describeConversion(input: FileInput): string[] {
  const { conversion = null, reasons = [] } = input.preparation ?? {};
  const why = reasons.join(', and ');
  if (conversion === null) return why === '' ? [] : [`sent unchanged: ${why}`];
  const seconds = Math.round(input.seconds ?? 0);
  const size = ` of about ${formatBytes(bytesToSend(input))} and ${describeDuration(1000 * seconds)}`;
  return [`${MANNERS[conversion]}${conversion === 'still' ? size : ''}, since ${why}`];
}

function describeSound({ sound, input }: PlannedItem['item']): string[] {
  if (sound === undefined) return [];
  const isSound = input.type === 'file' && input.sound !== undefined;
  const [what, tags] = isSound ? ['the sound', ', with its tags'] : ['only the sound', ''];
  const loudness = sound.loudness === undefined ? '' : `, at ${sound.loudness} LUFS`;
  return [
    `${what} of the delivered video is written as ${sound.extension.slice(1).toUpperCase()} on this machine, free${tags}${loudness}`,
  ];
}

function describeParts(count: number, where: string): string {
  return `cut at ${where} into about ${count} parts; each is a separate job, and the results are joined`;
}

/** `2 jobs, whose sound is mixed here: Anna (female, 1 started thousand characters), …` */
function describeVoices(item: PlannedItem['item']): string {
  const jobs = speakersOf(item).map(
    ({ speaker, voice_mode: voice, unit, quantity }) =>
      `${speaker ?? 'everyone else'} (${[voice, ...(item.units === null ? [] : [describeUnits(quantity, unit)])].join(', ')})`,
  );
  const count = jobs.length === 1 ? '1 job' : `${jobs.length} jobs, whose sound is mixed here`;
  const units = jobs.length === 1 ? '' : '; each speaker begins a unit of their own';
  return `${count}: ${jobs.join(', ')}${units}`;
}

function nameAll(labels: readonly string[]): string {
  const more = labels.length - MOST_NAMES;
  const names = labels.slice(0, MOST_NAMES).join(', ');
  return more > 0 ? `${names} and ${more} more` : names;
}
