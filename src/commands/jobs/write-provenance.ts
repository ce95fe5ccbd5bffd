/** Writes a file beside each localized video that says how it was made: --provenance. */
import { hash } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../base/failure.ts';
import { createInputs } from '../../base/find-input.ts';
import { onDisk } from '../../base/system-error.ts';
import { publish, rowsIn } from '../../batch/deliver/publish.ts';
import { findVersion } from '../../batch/deliver/result-file.ts';
import { readResultLines } from '../../batch/deliver/result-lines.ts';
import { isCopied } from '../../batch/input.ts';
import { namedPaths } from '../../batch/inputs/candidate.ts';
import { markOf } from '../../batch/inputs/items.ts';
import type { VideoItem } from '../../batch/inputs/stage-items.ts';
import type { BatchItem, BatchListener, ItemFile } from '../../batch/item.ts';
import { type MadeStep, recognizedLanguage, stepsOfJob, stepsOfStages } from '../../batch/made-steps.ts';
import { readGathered } from '../../batch/plan/gathered.ts';
import {
  PROVENANCE_SCHEMA_ADDRESS,
  type ProvenanceDocument,
  provenancePath,
  readProvenance,
} from '../../batch/provenance-file.ts';
import { makeScratch } from '../../batch/records/record-folder.ts';
import { hashInput } from '../../batch/run/known-uploads.ts';
import { SUBTITLE_FORMATS } from '../../protocol/subtitle-line.ts';
import type { CommandRun } from './drive.ts';

type ProvenanceRun = Omit<CommandRun, 'show'>;

export interface Provenances {
  /** Writes that of a result when its item ends, unless it is the same already, one after the other. */
  readonly listen: BatchListener;
  /** Waits for the last one. An interruption leaves the others to the next run. @throws internal errors */
  end(): Promise<void>;
  /** The first one: `usage` for a file that is not ours, `disk`. Nothing is paid again for it, so the run goes on. */
  readonly failure: Failure | null;
}

export function createProvenances(run: ProvenanceRun): Provenances {
  const { signal, terminal } = run.context;
  let failure: Failure | null = null;
  let last: Promise<void> = Promise.resolve();

  async function write(item: BatchItem, video: ItemFile): Promise<void> {
    if (signal.aborted) return;
    try {
      await writeOne(run, item, video);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Failure)) throw error;
      failure ??= error;
      // A watch tells its end late, and after Ctrl-C only that.
      if (run.options.watch === true) terminal.warn(`${item.label}: ${error.message}`);
    }
  }

  return {
    listen(event) {
      if (event.type !== 'item' || event.state.phase !== 'done') return;
      const { item, state } = event;
      // A file that was there before is perhaps not ours.
      if (state.before === 'exists' || item.isInner === true || isCopied(item.input)) return;
      const video = state.files.find(({ asset }) => asset === 'video');
      if (video === undefined) return;
      last = last.then(() => write(item, video));
      last.catch(() => undefined);
    },
    end: () => last,
    get failure() {
      return failure;
    },
  };
}

async function writeOne(run: ProvenanceRun, item: BatchItem, video: ItemFile): Promise<void> {
  const { context, operands, options, delivery, journal } = run;
  const { sha256, bytes } = video;
  if (sha256 === null || bytes === null) return;
  const path = provenancePath(video.path);
  const rows = rowsIn(journal, { item: item.key, step: 'provenance' }, { made: sha256 });
  const isOurs = (await findVersion(path, await rows.find(path))) !== null;
  const before = isOurs ? await readProvenance(video.path) : null;
  const document = await describeResult(run, item, { ...video, sha256, bytes }, before);
  if (isDeepStrictEqual({ ...document, made_at: before?.made_at }, before)) return;
  const text = `${JSON.stringify(document, null, 2)}\n`;
  const folder = await makeScratch(delivery);
  try {
    const from = join(folder, 'made.json');
    await onDisk(from, () => writeFile(from, text));
    const file = { path, sha256: hash('sha256', text), size: Buffer.byteLength(text) };
    const inputs = createInputs(namedPaths(context.io.cwd, operands, options));
    const placing = { rows, overwrite: delivery.existing === 'replace', findInput: inputs.find };
    await publish([{ from, file }], placing, () => journal.add(rows.placed([file])));
  } finally {
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function describeResult(
  run: ProvenanceRun,
  planned: BatchItem,
  { path, bytes, sha256 }: ItemFile & { readonly bytes: number; readonly sha256: string },
  before: ProvenanceDocument | null,
): Promise<ProvenanceDocument> {
  const { journal, context } = run;
  const item = await withMadeLanguages(run, planned);
  // A batch may have thousands of results, of which most are done.
  const known = before?.result.sha256 === sha256 ? before : null;
  const { TOOL } = await import('../../media/export/mark.ts');
  const { isSpoken, from, to } = markOf(item);
  const all = (item.gathers ?? [item]).flatMap((each) => stepsOf(run, each));
  // Languages share the recognition of their video, and engines.
  const steps = distinct(all);
  return {
    $schema: PROVENANCE_SCHEMA_ADDRESS,
    object: 'provenance',
    made_with: TOOL,
    made_at: new Date(context.io.now()).toISOString(),
    source: known?.source ?? (await describeSource(run, item)),
    result: { name: basename(path), bytes, sha256 },
    synthetic_speech: isSpoken,
    from: from ?? recognizedLanguage(journal, item) ?? known?.from ?? (await languageInMark(run, path)),
    to: [...to],
    steps: distinct(steps.map(({ step, by, engine }) => ({ step, by, engine }))),
    edited: (await Promise.all(steps.map(findEdits))).flat(),
  };
}

function distinct<T>(list: readonly T[]): T[] {
  return [...new Map(list.map((each) => [JSON.stringify(each), each])).values()];
}

/** A file has the languages that could be made. */
async function withMadeLanguages({ journal }: ProvenanceRun, item: BatchItem): Promise<BatchItem> {
  if (item.gathers === undefined) return item;
  const made = new Set((await readGathered(item, journal)).videos.map(({ language }) => language));
  return { ...item, gathers: item.gathers.filter(({ targetLanguage }) => made.has(targetLanguage ?? '')) };
}

function stepsOf({ journal, delivery, inStages }: ProvenanceRun, item: BatchItem): readonly MadeStep[] {
  const video = inStages ? journal.stages.finished.get(item.key) : undefined;
  if (video === undefined) return stepsOfJob(journal, item);
  const at = (file: string) => resolve(delivery.folder, file);
  return stepsOfStages(journal, item as VideoItem, video, at); // stages have videos
}

async function describeSource(
  { context }: ProvenanceRun,
  { input }: BatchItem,
): Promise<ProvenanceDocument['source']> {
  if (input.type !== 'file') return { name: input.label, sha256: null };
  return { name: basename(input.path), sha256: await hashInput(input.path, context.signal) };
}

/** One job does not say which language it has heard, but the embedded service marks its videos with it. */
async function languageInMark(
  { context: { io, signal } }: ProvenanceRun,
  path: string,
): Promise<string | null> {
  const [{ readComment, readMark }, { createPrograms }] = await Promise.all([
    import('../../media/export/mark.ts'),
    import('../../media/programs/programs.ts'),
  ]);
  const programs = createPrograms(io.env.PATH ?? '');
  if (programs.locate('ffprobe') === null) return null;
  return readMark((await readComment(programs, path, { signal, folder: tmpdir() })) ?? '')?.from ?? null;
}

/** The cues of machine-made subtitles that a person has edited. */
async function findEdits({ step, file }: MadeStep): Promise<ProvenanceDocument['edited']> {
  if (file === undefined || (step !== 'recognize' && step !== 'translate')) return [];
  const [made, now] = await Promise.all(
    [file.made, file.path].map((path) => readResultLines(path).catch(() => null)),
  );
  if (now == null) return [];
  const { compareSubtitles, readBack } = await import('../../media/subtitles/compare.ts');
  const format = SUBTITLE_FORMATS.find((each) => file.path.endsWith(`.${each}`)) ?? 'srt';
  const changes = made == null ? null : compareSubtitles(readBack(made, format), now).changes;
  if (changes?.length === 0) return [];
  const cues = changes?.map((change) => (change.type === 'removed' ? change.before : change.after).index);
  return [{ step, file: basename(file.path), cues: cues ?? null }];
}
