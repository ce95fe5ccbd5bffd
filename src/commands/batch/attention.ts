/** The cues that need a person: those of the results of a batch, read from its files. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import * as v from 'valibot';
import { isStageKey } from '../../batch/inputs/stage-items.ts';
import {
  ATTENTION_CODES,
  type AttentionPlace,
  type AttentionSubject,
  countReasons,
  describePlace,
  findAttention,
} from '../../batch/report/attention.ts';
import { type ItemReport, isDelivered, readItemKey } from '../../batch/report/item-report.ts';
import { showInvisible } from '../../batch/report/text-reports.ts';
import type { ScannedCue } from '../../media/subtitles/read-subtitle.ts';
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import type { Context } from '../context/context.ts';
import { showPath } from '../context/format.ts';
import type { Presentation } from '../context/output/presentation.ts';
import { checkSpeech, findRate } from '../subtitles/speech.ts';
import { type BatchFolder, type BatchFolders, commandAfterEdit } from './batch-folders.ts';
import type { SecondOpinions } from './second-opinions.ts';

interface ReportedPlace extends AttentionPlace {
  /** Label of the item. */
  readonly item: string;
  readonly language: string | null;
}

/** A place with the item whose result it is in; of several, the first. */
export interface FoundPlace extends ReportedPlace {
  readonly owner: ItemOwner;
}

interface ItemOwner {
  readonly key: string;
  /** Folder of its results, absolute. */
  readonly folder: string;
}

const PLACE = {
  item: v.string(),
  language: v.nullable(v.string()),
  file: v.nullable(v.string()),
  row: v.nullable(v.number()),
  cue: v.nullable(v.number()),
  start_ms: v.nullable(v.number()),
  source: v.nullable(v.string()),
  text: v.nullable(v.string()),
  reasons: v.array(v.object({ code: v.picklist(ATTENTION_CODES), detail: v.string() })),
};

/** The document of `batch report --attention -o json`. */
export const ATTENTION_REPORT = v.object({
  object: v.literal('attention_report'),
  made_at: v.string(),
  places: v.array(v.object(PLACE)),
});

/** The places of all results that are here: those with the most independent reasons first. */
export async function readAttention(
  { batches }: Pick<BatchFolders, 'batches'>,
  context: Pick<Context, 'io' | 'signal'>,
  opinions?: SecondOpinions,
): Promise<readonly FoundPlace[]> {
  const found: FoundPlace[] = [];
  const judge = createSpeechJudge(context);
  for (const batch of batches) {
    for (const item of batch.facts.items) {
      if (!isDelivered(item)) continue;
      const subject = await readSubject(item, batch, judge, opinions);
      found.push(
        ...findAttention(subject).map((place) => ({
          item: item.label,
          language: item.target_language,
          owner: { key: item.key, folder: batch.folder },
          ...place,
        })),
      );
    }
  }
  return joinPlaces(found).toSorted((left, right) => countReasons(right) - countReasons(left));
}

/** A dub and a translation may have reasons for the same cue. */
function joinPlaces(places: readonly FoundPlace[]): FoundPlace[] {
  const groups = Map.groupBy(places, ({ file, cue, start_ms, item }) =>
    JSON.stringify(cue === null ? [item, file, start_ms] : [file ?? item, cue]),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const source = group.find((place) => place.source !== null)?.source ?? null;
    const reasons = new Map(
      group.flatMap((place) => place.reasons).map((each) => [JSON.stringify(each), each]),
    );
    return [{ ...first, source, reasons: [...reasons.values()] }];
  });
}

type SpeechJudge = (
  cues: readonly ScannedCue[],
  language: string,
  voiceMode: string | undefined,
) => Promise<NonNullable<AttentionSubject['speech']>>;

/** Finds what a voice cannot say in time, by the rate of the earlier dubs of a language, which is measured once. */
export function createSpeechJudge(context: Pick<Context, 'io' | 'signal'>): SpeechJudge {
  const rates = new Map<string, ReturnType<typeof findRate>>();
  return async (cues, language, voiceMode) => {
    const key = JSON.stringify([language, voiceMode]);
    const found = rates.get(key) ?? findRate(language, voiceMode, context);
    rates.set(key, found);
    const rate = await found;
    return rate === null ? [] : checkSpeech(cues, language, rate);
  };
}

async function readSubject(
  item: ItemReport,
  { folder, records }: BatchFolder,
  judge: SpeechJudge,
  opinions: SecondOpinions | undefined,
): Promise<AttentionSubject> {
  const provenance = item.provenance ?? null;
  const [source, made] = filesOf(item, records, folder);
  // Only its terms are known of a translation that the user brought to a localization.
  const isBrought = item.kind === 'auto_localization';
  const target = isBrought ? (provenance?.lost_terms?.[0]?.file ?? null) : made;
  const file = item.kind === 'subtitle_recognition' ? source : target;
  const isTranslated = item.kind === 'subtitle_translation' && source !== null && target !== null;
  const fields = records.facts.get(item.key)?.fields ?? {};
  const asked = fields.source_language;
  const cues = target === null ? [] : await readCues(target);
  // Unless a voice was chosen, only what was heard of earlier dubs counts.
  const voice = fields.voice_mode === 'auto' ? undefined : fields.voice_mode;
  const language = item.target_language;
  const readOpinion = async (kind: keyof SecondOpinions) => {
    const path = opinions?.[kind].get(target ?? '');
    return path === undefined ? undefined : await readCues(path);
  };
  const heard = item.kind === 'dubbing' ? await readOpinion('heard') : undefined;
  return {
    heard: heard === undefined || language === null ? undefined : { cues: heard, language },
    back: isTranslated ? await readOpinion('back') : undefined,
    file,
    cues,
    speech:
      language === null || cues.length === 0 || isBrought
        ? []
        : await judge(cues, language, typeof voice === 'string' ? voice : undefined),
    source: isTranslated ? await readCues(source) : null,
    sourceLanguage: typeof asked === 'string' && asked !== 'auto' ? asked : null,
    provenance,
  };
}

/** The texts before and after an item; null where they are not files of this machine. */
export function filesOf(
  item: ItemReport,
  { facts, stages }: BatchFolder['records'],
  folder: string,
): readonly [source: string | null, target: string | null] {
  if (!isStageKey(item.key)) {
    const input = facts.get(item.key)?.path ?? null;
    const made = item.files.find(({ asset }) => asset === 'subtitle')?.path ?? null;
    if (item.kind === 'dubbing') return [null, input];
    return item.kind === 'subtitle_translation' ? [input, made] : [made, null];
  }
  const name = readItemKey(item.key)?.name;
  const own = [...stages.subtitles.values()].filter(({ video }) => video === name);
  const source = own.find(({ role }) => role === 'source');
  const wanted = item.target_language === null ? null : canonicalLanguage(item.target_language);
  const target = own.find(
    ({ role, language }) => role === 'target' && canonicalLanguage(language) === wanted,
  );
  return [
    source === undefined ? null : resolve(folder, source.path),
    target === undefined ? null : resolve(folder, target.path),
  ];
}

/** The cues of a file; none if it was moved or cannot be read, since the item itself is fine. */
async function readCues(path: string): Promise<readonly ScannedCue[]> {
  const { scanText } = await import('../../media/subtitles/read-subtitle.ts');
  try {
    return scanText(await readFile(path), path).cues;
  } catch {
    return [];
  }
}

/** The places as they are printed; forms of columns and ids have the document. */
export function presentAttention(
  places: readonly FoundPlace[],
  batches: BatchFolders,
  context: Context,
): Presentation {
  const { cwd, now } = context.io;
  const own = places.map(({ owner: _, ...place }) => place);
  return {
    document: () => ({ object: 'attention_report', made_at: new Date(now()).toISOString(), places: own }),
    pages: () =>
      places.flatMap((place) => {
        const { item, file } = place;
        return describePlace(place, file === null ? item : showPath(file, cwd)).map(showInvisible);
      }),
    notes: () => {
      const commands = new Set(places.flatMap((place) => commandAfterEdit(place, batches, context) ?? []));
      const after = [...commands].slice(0, MOST_COMMANDS).map((command) => `  ${command}`);
      return [
        describeAttention(places),
        ...(after.length === 0 ? [] : ['Correct the files, then run:', ...after]),
      ];
    },
  };
}

/** A list of hundreds of dubs would hide the rest. */
const MOST_COMMANDS = 3;

export function describeAttention(places: readonly ReportedPlace[]): string {
  const cues = places.filter(({ cue, source }) => cue !== null || source !== null).length;
  const files = new Set(places.map(({ file, item }) => file ?? item)).size;
  if (places.length === 0) return 'Nothing needs a person.';
  return `${cues} ${cues === 1 ? 'cue' : 'cues'} in ${files} ${files === 1 ? 'result' : 'results'} ${cues === 1 ? 'needs' : 'need'} a person.`;
}
