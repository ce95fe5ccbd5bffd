/** --one-file: the item of the file with all languages of a video, and the items of its languages, whose results only vloc reads. */
import { join } from 'node:path';
import { KINDS } from '../../protocol/kinds.ts';
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import { type InputProblem, isCopied } from '../input.ts';
import type { BatchItem, SoundResult } from '../item.ts';
import { nameKept } from '../kept-tracks.ts';
import { RECORD_FOLDER } from '../records/record-folder.ts';
import { defaultTemplate, sampleTemplate } from '../result-name.ts';
import type { PlanOptions } from './plan-request.ts';

/** The language of a file with several, as its name has it. Source: ISO 639-2. */
const SEVERAL_LANGUAGES = 'mul';

/** The value of --default for the sound of the source. */
const ORIGINAL = 'original';

const LANGUAGES_FOLDER = `${RECORD_FOLDER}/languages`;
const SAMPLES_FOLDER = `${RECORD_FOLDER}/languages-of-samples`;

/** Whether a file is the result of one language, of which only the file with all of them is for the user. */
export function isOfOneLanguage(path: string): boolean {
  const places = path.replaceAll('\\', '/');
  return [LANGUAGES_FOLDER, SAMPLES_FOLDER].some((folder) => places.includes(`/${folder}/`));
}

/** The template of the items of languages: --name is for the file with all of them. */
export function languageTemplate(kind: BatchItem['kind'], { sample }: Pick<PlanOptions, 'sample'>) {
  return sample === undefined ? null : sampleTemplate(defaultTemplate(kind));
}

/**
 * The items of the languages of an input, followed by that of the file which has all of them, and by those of their sounds beside it.
 * A video that is only copied has no languages, and an input that cannot be used gets no file.
 * @param items of the input, by `languageTemplate`
 * @param create makes an item of such a file, with the fields of a request
 * @param sound how each language is written beside the file; undefined if it is not
 */
export function inOneFile(
  items: readonly BatchItem[],
  options: PlanOptions,
  create: (request: Pick<BatchItem, 'targetLanguage' | 'fields'>, sound?: SoundResult) => BatchItem,
  sound: SoundResult | undefined,
  problems: InputProblem[],
): readonly BatchItem[] {
  const [first] = items;
  if (first === undefined || first.input.type === 'unusable') return items;
  const { kind, input } = first;
  const { target_language: _, ...fields } = first.fields;
  const whole = create({ targetLanguage: SEVERAL_LANGUAGES, fields });
  if (isCopied(input)) return [whole];
  const asked = options.default ?? first.targetLanguage;
  const start = asked === ORIGINAL ? asked : (canonicalLanguage(asked ?? '') ?? asked);
  const inner = items.map((item): BatchItem => {
    const folder = options.sample === undefined ? LANGUAGES_FOLDER : SAMPLES_FOLDER;
    return { ...item, folder: join(folder, item.folder), isInner: true };
  });
  const isFirst = ({ targetLanguage }: BatchItem) => targetLanguage === start;
  if (start !== ORIGINAL && !inner.some(isFirst)) {
    const known = inner.map(({ targetLanguage }) => targetLanguage).join(', ');
    addOnce(problems, '--default', `must be ${ORIGINAL} or one of ${known}, not ${asked}`);
  }
  for (const [pointer, detail] of findObstacles(first, options)) addOnce(problems, pointer, detail);
  const isOneSound = fields.mode === 'subtitles_only';
  const units = { unit: KINDS[kind].unit, quantity: 0 };
  const sounds = (sound === undefined ? [] : inner).map((language): BatchItem => {
    const alone = create(language, sound);
    return { ...alone, label: `${alone.label} (sound)`, sound, gathers: [language], units };
  });
  return [
    ...inner,
    {
      ...whole,
      gathers: [...inner.filter(isFirst), ...inner.filter((item) => !isFirst(item))],
      startsWithOriginal: start === ORIGINAL,
      // Results with subtitles only have the sound of the source.
      keep: nameKept(!isOneSound, options.keepSubtitles ?? false),
      units,
    },
    ...sounds,
  ];
}

/** Why there can be no such file. */
function findObstacles(
  { input, fields, look, label }: BatchItem,
  { name = '' }: PlanOptions,
): readonly (readonly [pointer: string, detail: string])[] {
  const isBurned = fields.subtitle_output === 'burned' || look !== undefined;
  return [
    ...(isBurned
      ? [
          [
            '--one-file',
            'has one picture, into which the subtitles of several languages cannot be burned; use --subtitle-output soft',
          ] as const,
        ]
      : []),
    ...(name.includes('{id}')
      ? [['--name', 'has {id}, but the file is made of several jobs; leave {id} out of it'] as const]
      : []),
    ...(input.type === 'file'
      ? []
      : [
          [
            label,
            'is not a file on this machine, from which --one-file takes the original sound; download it first',
          ] as const,
        ]),
  ];
}

/** The languages and the inputs of a command share their options. */
function addOnce(problems: InputProblem[], pointer: string, detail: string): void {
  const isKnown = problems.some((each) => each.pointer === pointer && each.detail === detail);
  if (!isKnown) problems.push({ pointer, detail });
}
