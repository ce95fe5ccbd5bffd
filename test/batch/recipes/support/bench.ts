/** A run without a service: jobs have results at once, and media work is noted instead of done. */
import { hash, randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { JobInput } from '../../../../src/batch/input.ts';
import { createItem } from '../../../../src/batch/inputs/items.ts';
import type { BatchItem } from '../../../../src/batch/item.ts';
import type { Decision } from '../../../../src/batch/plan/decision.ts';
import type { Preparation } from '../../../../src/batch/preparation.ts';
import { recipeOf } from '../../../../src/batch/recipes/recipe-of.ts';
import { createAttempt } from '../../../../src/batch/records/attempts.ts';
import type { Batch } from '../../../../src/batch/run/batch.ts';
import { carryOut, madeOf, type StepEnd } from '../../../../src/batch/run/carry-out.ts';
import { openBatchJournal } from '../../../../src/batch/run/journal.ts';
import type { Run } from '../../../../src/batch/run/run.ts';
import {
  type JobResult,
  type JobStep,
  type Made,
  type Step,
  stepsOf,
} from '../../../../src/batch/run/step.ts';
import { openRun } from '../../../../src/batch/run-batch.ts';
import type { JobKind } from '../../../../src/protocol/kind-names.ts';
import { KINDS, type ResultPart } from '../../../../src/protocol/kinds.ts';
import { formatSrt } from '../../../../src/protocol/srt.ts';
import type { SubtitleLine } from '../../../../src/protocol/subtitle-line.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import { unopenedBatch } from '../../run/support/unopened-batch.ts';

type LinesInput = JobInput & { readonly type: 'lines' };
type FileInput = JobInput & { readonly type: 'file' };

/** Cues of a second with a second between them. */
export function linesOf(...texts: readonly string[]): readonly SubtitleLine[] {
  return texts.map((text, at) => ({ index: at + 1, start_ms: at * 2000, end_ms: at * 2000 + 1000, text }));
}

export const NAMED = { label: 'talk', stem: 'talk', name: 'talk' };

export function linesItem(
  kind: JobKind,
  texts: readonly string[],
  more: Partial<LinesInput> = {},
): BatchItem & { readonly input: LinesInput } {
  const own = { lines: linesOf(...texts), sha256: hash('sha256', texts.join()), file: null, parts: null };
  const input: LinesInput = { type: 'lines', ...NAMED, ...own, ...more };
  return { ...createItem(kind, input, { targetLanguage: 'es', fields: { target_language: 'es' } }), input };
}

export function videoItem(more: Partial<FileInput> = {}): BatchItem & { readonly input: FileInput } {
  const facts = { path: '/talk.mp4', bytes: 9, mtimeMs: 0, contentType: 'video/mp4', seconds: 9 };
  const input: FileInput = { type: 'file', ...NAMED, ...facts, preparation: null, ...more };
  const request = { targetLanguage: 'es', fields: { target_language: 'es' } };
  return { ...createItem('auto_localization', input, request), input };
}

/** The record of a request. @param key of the attempt */
export function attemptOf(key: string, { kind, key: item }: Pick<BatchItem, 'kind' | 'key'>) {
  const facts = { body_sha256: hash('sha256', key), request: {}, input_sha256: null, is_free: false };
  return createAttempt({ key, kind, item, ...facts, asked_at: '2026-11-01T00:00:00.000Z' });
}

/** Placeholders for a term, in Spanish only. */
export const MASKS = {
  masksTerms: true,
  terms: {
    languages: ['es'],
    said: () => [],
    in: (language: string) => (language === 'es' ? [{ term: 'Acme', expected: 'Acme' }] : []),
  },
};

interface Carried {
  /** `job 1 < cut` for a step that needs another one, in the order of `stepsOf`. */
  readonly steps: readonly string[];
  readonly made: Made;
  /** Contents of the files of the result, by name. */
  readonly files: Readonly<Record<string, string>>;
}

interface Bench {
  readonly folder: string;
  readonly run: Run;
  readonly warnings: readonly string[];
  /** The work on media that was asked for, in order. */
  readonly asked: readonly unknown[];
  /** The jobs that were started, in order. */
  readonly jobs: readonly JobStep[];
  /** Cleans up as at the end of an item. */
  readonly cleanUps: readonly (() => void)[];
  /** Writes a file. @returns its path */
  write(name: string, text: string): Promise<string>;
  /** Makes the result of an item by its recipe. @throws what a step has thrown */
  carryOut(item: BatchItem, decision?: Decision): Promise<Carried>;
}

interface BenchOptions {
  readonly batch?: Partial<Batch>;
  /** Media work with other results. */
  readonly preparation?: Partial<Preparation>;
  /** What a job says for a text; nothing for one that its result lacks. Default: the same in capitals. */
  readonly say?: (text: string) => string | undefined;
}

function nameOf(step: Step): string {
  return step.does === 'job' ? `job ${step.part.part?.number}` : step.does;
}

/** @param step of the result */
function namesOf(step: Step): readonly string[] {
  return stepsOf<Step>(step).map((each) =>
    [nameOf(each), each.needs.map(nameOf).join(', ')].filter(Boolean).join(' < '),
  );
}

export async function openBench({
  batch: changes,
  preparation,
  say = (text) => text.toUpperCase(),
}: BenchOptions = {}): Promise<Bench> {
  const folder = makeFolder();
  const out = join(folder, 'out');
  const [warnings, asked, jobs]: [string[], unknown[], JobStep[]] = [[], [], []];
  const journal = await openBatchJournal({ folder: out });
  const unopened = unopenedBatch({
    ...{ baseUrl: 'http://127.0.0.1:9/v1', credentials: { key: 'key', secret: 'secret' } },
    ...{ stateDir: join(folder, 'state'), out, items: [] },
  });
  const batch = {
    ...{ ...unopened, journal, warn: (text: string) => void warnings.push(text) },
    preparation: { ...notedWork(asked), ...preparation },
    options: { ...unopened.options, redub: { whole: false, only: null, service: async () => 'service' } },
    ...changes,
  };
  const { run, end } = await openRun(batch);
  onTestFinished(async () => {
    end();
    await journal.close();
    await batch.connection.client.close();
  });
  const cleanUps: (() => void)[] = [];

  /** As the run of a part records its job. */
  async function finish({ part, id }: JobStep): Promise<StepEnd> {
    const { kind, part: { number = 0 } = {} } = part;
    const [key, jobId] = [randomUUID(), `job_${number}`];
    await journal.add(
      attemptOf(key, { kind, key: id }),
      { type: 'changed', key, state: 'succeeded', job_id: jobId, charged: number },
      {
        type: 'made',
        key,
        provenance: { engines: [{ step: 'speak', engine: jobId, skipped: [] }], cues: [] },
      },
    );
    const parts: [string, ResultPart][] = Object.entries(KINDS[kind].result);
    const files = parts.flatMap(([asset, { type }]) => (type === 'asset' ? [asset] : []));
    return madeOf({
      jobId,
      files: await Promise.all(
        files.map(async (asset) => {
          const path = await write(`${jobId}.${asset}`, answerTo(part, say));
          return { asset, path, bytes: 1, sha256: null };
        }),
      ),
    } satisfies JobResult);
  }

  async function write(name: string, text: string): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  }

  return {
    ...{ folder, run, warnings, asked, jobs, cleanUps, write },
    async carryOut(item, decision = { step: 'new', after: null }) {
      const recipe = await recipeOf(run, { item, decision });
      if (recipe === null) throw new TypeError('the item has no recipe');
      const bench = {
        run,
        item,
        order: 0,
        atEnd: (cleanUp: () => void) => void cleanUps.push(cleanUp),
      };
      const ends = new Map<string, StepEnd>();
      const result = await carryOut<Step>(
        ends,
        (made) =>
          recipe({
            result: ({ id }) => made(id) as JobResult | undefined,
            value: ({ id }) => made(id) as never,
          }),
        (ready) =>
          ready.map((step) => {
            if (step.does !== 'job') return [step, step.make(bench).then(madeOf)] as const;
            jobs.push(step);
            return [step, finish(step)] as const;
          }),
      );
      const end = ends.get(result.id);
      if (end?.type !== 'made') throw new TypeError('the result was not made');
      // Nothing that is made here has a note.
      expect(warnings).toEqual([]);
      // The step of the result has made it.
      const made = end.value as Made;
      const texts = made.files.map(async ({ path }) => [basename(path), await readFile(path, 'utf8')]);
      return { steps: namesOf(result), made, files: Object.fromEntries(await Promise.all(texts)) };
    },
  };
}

function answerTo({ input }: BatchItem, say: (text: string) => string | undefined): string {
  if (input.type !== 'lines') return input.label;
  return formatSrt(
    input.lines.flatMap((line) => {
      const text = say(line.text);
      return text === undefined ? [] : { ...line, text };
    }),
  );
}

/** Media work that writes down what it is asked for. */
function notedWork(asked: unknown[]): Preparation {
  const note = async (task: unknown, folder: string, name: string) => {
    asked.push(task);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, name), name);
    return join(folder, name);
  };
  return {
    prepare: () => Promise.reject(new TypeError('nothing is prepared here')),
    async join(task, { folder }) {
      const labels = Object.keys(task.parts[0] ?? {});
      return Promise.all(
        labels.map(async (label) => ({
          label,
          path: await note(task, folder, `joined ${label}`),
          notes: [],
        })),
      );
    },
    gather: (task, { folder }) => note(task, folder, 'gathered'),
    async patch(task, { folder }) {
      const heard = await readFile(task.track, 'utf8');
      return { path: await note({ ...task, heard }, folder, 'patched'), difference: null };
    },
    addTracks: async ({ video }, { folder }) => ({
      path: await note({ video }, folder, 'finished'),
      notes: [],
    }),
  };
}
