/** The last stage: the finished videos, put together on this machine, and again only when something in them changed. */
import { hash } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { placeFile } from '../batch/deliver/result-file.ts';
import type { BatchItem, ItemFile, ItemState } from '../batch/item.ts';
import { createItemFacts } from '../batch/plan/facts.ts';
import { type BatchJournal, openBatchJournal } from '../batch/run/journal.ts';
import { hashInput } from '../batch/run/known-uploads.ts';
import { digestLines, STAGES_FOLDER } from '../batch/stages/items.ts';
import type { FinishedVideo } from '../batch/stages/records.ts';
import { createInputs, type FindInput } from '../disk/find-input.ts';
import { makeFolder } from '../disk/folder.ts';
import type { ExportOptions } from '../prepare/index.ts';
import { createBatchView } from '../workflow/batch/view.ts';
import { linesInFile } from './given-subtitle.ts';
import { asLocalFailure } from './local-failure.ts';
import { commandRecord } from './run-phase.ts';
import { fail, going, inputFilesOf, type Journey, type Session } from './session.ts';
import type { StageSubtitle } from './stage-plan.ts';

/** How the names of working folders begin. */
const SCRATCH = 'export-';

/** What a finished video is made of. */
export interface Parts {
  readonly dub: ItemFile | null;
  readonly separated: { readonly vocals: ItemFile; readonly background: ItemFile } | null;
}

/** @param partsOf null for one that lacks a part; it is left as it is */
export async function exportVideos(
  session: Session,
  partsOf: (journey: Journey) => Parts | null,
): Promise<void> {
  const due: { journey: Journey; parts: Parts; madeOf: string }[] = [];
  for (const journey of going(session)) {
    const parts = partsOf(journey);
    if (parts === null) continue;
    const madeOf = digestParts(journey, parts);
    const before = await findFinished(session, journey, madeOf);
    if (before === null) due.push({ journey, parts, madeOf });
    else journey.end = doneState(journey, fileOf(session, before), 'downloaded');
  }
  if (due.length === 0) return;
  const { context, plan } = session;
  const subtitles = due.flatMap(({ journey: { source, target } }) => [source, target]);
  const read = subtitles.flatMap((subtitle) => subtitle?.path ?? []);
  const { find: findInput } = createInputs([...inputFilesOf(session), ...read]);
  const journal = await openBatchJournal(plan.delivery.folder);
  const view = await createBatchView(context, { items: due.map(({ journey }) => journey.wish.item) });
  const tell = (item: BatchItem, state: ItemState) =>
    view.listener({ type: 'item', item, state, atMs: context.io.now() });
  try {
    // A video that is not finished is one to be made, also when this process is killed.
    const items = due.map(({ journey }) => journey.wish.item);
    const command = commandRecord(
      session,
      items.map(({ key }) => key),
    );
    await journal.add(command, ...items.map((item) => createItemFacts(item)));
    await removeLeftovers(join(plan.delivery.folder, STAGES_FOLDER));
    for (const { journey, parts, madeOf } of due) {
      context.signal.throwIfAborted();
      const { item } = journey.wish;
      const report = (fraction: number) => tell(item, { phase: 'preparing', doing: 'exporting', fraction });
      try {
        const file = await exportOne(session, journal, { journey, parts, madeOf, findInput, report });
        journey.end = doneState(journey, file, null);
      } catch (error) {
        if (context.signal.aborted) throw context.signal.reason;
        fail(journey, asLocalFailure(error));
      }
      if (journey.end !== null) tell(item, journey.end);
    }
  } finally {
    view.close();
    await journal.close();
  }
}

/** What killed runs have left; nobody else works here while the journal is open. */
async function removeLeftovers(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const scratch = names.filter((name) => name.startsWith(SCRATCH));
  await Promise.all(scratch.map((name) => rm(join(folder, name), { recursive: true, force: true })));
}

/** All that a change of must show in the video; other names of the same files must not. */
function digestParts({ wish, target }: Journey, { dub, separated }: Parts): string {
  const { input } = wish.item;
  const facts = [
    [input.bytes, input.mtimeMs],
    [dub?.sha256, separated?.background.sha256, separated?.vocals.sha256],
    wishesOf(wish.item),
    target === null ? null : digestLines(target.lines),
  ];
  return hash('sha256', JSON.stringify(facts));
}

/** The record of a video that is finished, still there, and made of just these parts; null otherwise. */
async function findFinished(
  { plan, runOptions }: Session,
  { wish }: Journey,
  madeOf: string,
): Promise<FinishedVideo | null> {
  const record = plan.stages.finished.get(wish.item.key)?.newest;
  if (record?.made_of !== madeOf || runOptions.fresh) return null;
  if (record.path !== relative(plan.delivery.folder, wish.path)) return null;
  const found = await stat(wish.path).catch(() => null);
  return found?.size === record.size ? record : null;
}

function fileOf({ plan }: Session, { path, size, sha256 }: FinishedVideo): ItemFile {
  return { asset: 'video', path: join(plan.delivery.folder, path), bytes: size, sha256 };
}

function doneState({ jobId }: Journey, file: ItemFile, before: 'downloaded' | null): Journey['end'] {
  return { phase: 'done', jobId, files: [file], credits: null, before };
}

/** Subtitles alone that are put out nowhere would be nothing at all: they become a track, as the service makes them. */
function wishesOf({ fields }: BatchItem): ExportOptions {
  const isTextOnly = fields.mode === 'subtitles_only';
  return {
    // The plan has checked them against the table of the kinds.
    subtitleOutput: (fields.subtitle_output ??
      (isTextOnly ? 'soft' : 'none')) as ExportOptions['subtitleOutput'],
    originalAudio: (fields.original_audio ?? 'background') as ExportOptions['originalAudio'], // checked as well
    resolution: (fields.resolution ?? 'source') as ExportOptions['resolution'], // checked as well
  };
}

function placeOf(subtitle: StageSubtitle | null, folder: string): string | null {
  return subtitle === null ? null : relative(folder, subtitle.path);
}

/** Tells whether the text beside the video is still the one that it speaks. */
async function digestInFile(subtitle: StageSubtitle | null): Promise<string | null> {
  return subtitle === null ? null : digestLines(await linesInFile(subtitle.lines, subtitle.path));
}

interface Task {
  readonly journey: Journey;
  readonly parts: Parts;
  readonly madeOf: string;
  readonly findInput: FindInput;
  readonly report: (fraction: number) => void;
}

async function exportOne(session: Session, journal: BatchJournal, task: Task): Promise<ItemFile> {
  const { context, plan } = session;
  const { journey, parts, madeOf, findInput, report } = task;
  const { item, path } = journey.wish;
  const folder = plan.delivery.folder;
  const { createPrograms } = await import('../engines/programs.ts');
  const { exportLocalized } = await import('../prepare/export/export-localized.ts');
  await makeFolder(join(folder, STAGES_FOLDER), 0o700);
  const scratch = await mkdtemp(join(folder, STAGES_FOLDER, SCRATCH));
  try {
    report(0);
    const language = item.targetLanguage ?? 'und';
    const made = await exportLocalized(
      createPrograms(context.io.env.PATH ?? ''),
      {
        video: item.input.path,
        track: item.input.preparation?.track ?? null,
        dub: parts.dub?.path ?? null,
        separated:
          parts.separated === null
            ? null
            : { vocals: parts.separated.vocals.path, background: parts.separated.background.path },
        subtitle: { language, lines: journey.target?.lines ?? [] },
      },
      wishesOf(item),
      { signal: context.signal, folder: scratch, report },
    );
    const { size } = await stat(made);
    const sha256 = await hashInput(made, context.signal);
    const place = relative(folder, path);
    const at = new Date(context.io.now()).toISOString();
    const isOurs = plan.stages.finished.get(item.key)?.newest.path === place;
    // First the record: a video without one would be taken for somebody else's.
    await journal.add({
      type: 'stage_export',
      at,
      item: item.key,
      path: place,
      size,
      sha256,
      made_of: madeOf,
      source: placeOf(journey.source, folder),
      target: placeOf(journey.target, folder),
      target_lines: await digestInFile(journey.target),
    });
    await placeFile(made, path, isOurs || plan.delivery.existing === 'replace', findInput);
    return { asset: 'video', path, bytes: size, sha256 };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
