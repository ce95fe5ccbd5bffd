/** What needs a person: the cues of the results of a batch, read from its files. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import * as v from 'valibot';
import {
  ATTENTION_CODES,
  type AttentionCue,
  type AttentionPlace,
  type AttentionSubject,
  findAttention,
} from '../../batch/report/attention.ts';
import { type ItemReport, readItemKey } from '../../batch/report/item-report.ts';
import { showInvisible } from '../../batch/report/text-reports.ts';
import { isStageKey } from '../../batch/stages/items.ts';
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import { formatTime } from '../../protocol/srt.ts';
import type { Context } from '../context/context.ts';
import { showPath } from '../context/format.ts';
import { writeCommand } from '../context/printed-command.ts';
import type { OpenBatch, OpenBatches } from './open-batch.ts';

interface ReportedPlace extends AttentionPlace {
  /** Label of the item. */
  readonly item: string;
  readonly language: string | null;
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

/** The places of all results that are done: those with the most reasons first. */
export async function readAttention({ batches }: OpenBatches): Promise<readonly ReportedPlace[]> {
  const found: ReportedPlace[] = [];
  for (const batch of batches) {
    for (const item of batch.facts.items) {
      if (item.state !== 'done') continue;
      const subject = await readSubject(item, batch);
      found.push(
        ...findAttention(subject).map((place) => ({
          item: item.label,
          language: item.target_language,
          ...place,
        })),
      );
    }
  }
  return joinPlaces(found).toSorted((left, right) => right.reasons.length - left.reasons.length);
}

/** A dub and a translation may have reasons for the same cue. */
function joinPlaces(places: readonly ReportedPlace[]): ReportedPlace[] {
  const groups = Map.groupBy(places, ({ file, cue, start_ms, item }) =>
    JSON.stringify(cue === null ? [item, file, start_ms] : [file ?? item, cue]),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const source = group.find((place) => place.source !== null)?.source ?? null;
    return [{ ...first, source, reasons: group.flatMap(({ reasons }) => reasons) }];
  });
}

async function readSubject(item: ItemReport, { folder, records }: OpenBatch): Promise<AttentionSubject> {
  const provenance = item.provenance ?? null;
  const [source, target] = filesOf(item, records, folder);
  const file = item.kind === 'subtitle_recognition' ? source : target;
  const isTranslated = item.kind === 'subtitle_translation' && source !== null && target !== null;
  const fields = records.facts.get(item.key)?.fields ?? {};
  const asked = fields.source_language;
  return {
    file,
    cues: target === null ? [] : await readCues(target),
    source: isTranslated ? await readCues(source) : null,
    sourceLanguage: typeof asked === 'string' && asked !== 'auto' ? asked : null,
    provenance,
  };
}

/** The texts before and after an item; null where they are not files of this machine. */
function filesOf(
  item: ItemReport,
  { facts, stages }: OpenBatch['records'],
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
async function readCues(path: string): Promise<readonly AttentionCue[]> {
  const { scanSubtitle } = await import('../../media/subtitles/read.ts');
  try {
    return scanSubtitle(await readFile(path), path);
  } catch {
    return [];
  }
}

/** `talk.es.srt:12: 00:00:41,200 NUMBER: "1984" is not in the translation`, a line for each reason. */
export function printAttention(places: readonly ReportedPlace[], context: Context): void {
  const { io, terminal } = context;
  for (const { item, file, row, start_ms, reasons } of places) {
    const where = file === null ? item : showPath(file, io.cwd);
    const time = start_ms === null ? '' : `${formatTime(start_ms)} `;
    for (const { code, detail } of reasons) {
      const line = `${where}${row === null ? '' : `:${row}`}: ${time}${code}: ${detail}`;
      context.print(showInvisible(line));
    }
  }
  terminal.note(describeAttention(places));
  const dubs = places.filter(({ file, language }) => file !== null && language !== null);
  const [first] = dubs;
  if (first === undefined) return;
  const words = ['dub', showPath(first.file ?? '', io.cwd), '--to', first.language ?? ''];
  terminal.note(
    `Correct the files, then repeat the command that made them, or dub one: ${writeCommand(context, words)}`,
  );
}

export function describeAttention(places: readonly ReportedPlace[]): string {
  const cues = places.filter(({ cue, source }) => cue !== null || source !== null).length;
  const files = new Set(places.map(({ file, item }) => file ?? item)).size;
  if (places.length === 0) return 'Nothing needs a person.';
  return `${cues} ${cues === 1 ? 'cue' : 'cues'} in ${files} ${files === 1 ? 'result' : 'results'} ${cues === 1 ? 'needs' : 'need'} a person.`;
}
