/** What a job command is about to do, checked as far as it can be without the service. */
import { Failure } from '../../client/failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS, type Kind } from '../../protocol/kinds.ts';
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import { checkJobRequest } from '../../protocol/requests.ts';
import { flagName } from '../command.ts';
import type { Io } from '../io.ts';
import { exists } from './existing-file.ts';
import { readBodyFields, setFields } from './extra-fields.ts';
import { checkInput, type InputProblem, type JobInput } from './job-input.ts';
import { fieldOptions } from './job-options.ts';
import { defaultTemplate, type NameParts, resultPath } from './result-name.ts';

/** How results are named and what happens to files that exist. */
export interface Delivery {
  readonly folder: string;
  readonly template: string;
  readonly existing: 'refuse' | 'replace' | 'skip';
}

export interface PlannedJob {
  readonly input: JobInput;
  /** Null for kinds that produce no other language. */
  readonly targetLanguage: string | null;
  /** The request without its source. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface JobPlan {
  readonly kind: JobKind;
  readonly jobs: readonly PlannedJob[];
  /** Left out because of --skip-existing. */
  readonly skipped: readonly string[];
  readonly delivery: Delivery;
}

type Options = Readonly<Record<string, unknown>>;

/** The delivery that the options ask for. */
export function readDelivery(kind: JobKind | null, options: Options, io: Pick<Io, 'cwd'>): Delivery {
  return {
    folder: typeof options.out === 'string' ? options.out : io.cwd,
    template: typeof options.name === 'string' ? options.name : kind === null ? '' : defaultTemplate(kind),
    existing: options.clobber === true ? 'replace' : options.skipExisting === true ? 'skip' : 'refuse',
  };
}

/**
 * Checks operands and options all at once.
 * @throws Failure of category usage that lists every problem found
 */
export async function planJobs(
  kind: JobKind,
  operands: readonly string[],
  options: Options,
  io: Io,
): Promise<JobPlan> {
  const delivery = readDelivery(kind, options, io);
  const problems: InputProblem[] = [];
  const checked = await Promise.all(operands.map((operand) => checkInput(operand, KINDS[kind].input, io)));
  const inputs = checked.flatMap((each) => (each.ok ? [each.input] : []));
  problems.push(...checked.flatMap((each) => (each.ok ? [] : [each.problem])));
  const body = await readBodyFields(textOf(options.body), operands, io, problems);
  const requests = buildRequests(kind, body, options, problems);
  const jobs: PlannedJob[] = [];
  const skipped: string[] = [];
  const taken = new Map<string, string>();
  for (const input of inputs) {
    for (const request of requests) {
      const path = expectedPath(kind, delivery, input, request.targetLanguage);
      if (path !== null) {
        const clash = taken.get(path);
        if (clash !== undefined)
          problems.push({
            pointer: input.label,
            detail: `would write ${path}, as ${clash} does; use --name or two folders`,
          });
        taken.set(path, input.label);
        if (delivery.existing !== 'replace' && (await exists(path))) {
          if (delivery.existing === 'skip') {
            skipped.push(path);
            continue;
          }
          problems.push({
            pointer: path,
            detail:
              'exists; --clobber replaces it, --skip-existing leaves it out, --out chooses another folder',
          });
        }
      }
      jobs.push({ input, ...request });
    }
  }
  if (problems.length > 0) throw unusable(problems);
  return { kind, jobs, skipped, delivery };
}

interface PlannedRequest {
  readonly targetLanguage: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** One request for each target language, or a single one where the kind has none. */
function buildRequests(
  kind: JobKind,
  body: Readonly<Record<string, unknown>>,
  options: Options,
  problems: InputProblem[],
): readonly PlannedRequest[] {
  const row: Kind = KINDS[kind];
  const common: Record<string, unknown> = { ...body };
  for (const { field, option } of fieldOptions(kind)) {
    if (field !== 'target_language' && options[option] !== undefined) common[field] = options[option];
  }
  const pairs = pairsOf(options.set);
  for (const named of [...Object.keys(body), ...Object.keys(pairs)]) {
    if (named.split('.')[0] === sourceFieldOf(kind))
      problems.push({ pointer: named, detail: 'is what the operand stands for; name it there' });
  }
  if (row.fields.target_language === undefined) {
    problems.push(...fieldProblems(kind, common));
    return [{ targetLanguage: null, fields: setFields(common, pairs, problems) }];
  }
  const tags = languagesOf(options.to, body.target_language);
  if (tags.length === 0)
    problems.push({ pointer: '--to', detail: 'missing; name the language to produce, for example --to es' });
  const requests: PlannedRequest[] = [];
  for (const tag of new Set(tags.map((each) => canonicalLanguage(each) ?? each))) {
    const fields = { ...common, target_language: tag };
    problems.push(...fieldProblems(kind, fields));
    requests.push({ targetLanguage: tag, fields: setFields(fields, pairs, problems) });
  }
  return requests;
}

function languagesOf(to: unknown, fromBody: unknown): readonly string[] {
  if (Array.isArray(to) && to.length > 0) return to.map(String);
  return typeof fromBody === 'string' ? [fromBody] : [];
}

function pairsOf(set: unknown): Readonly<Record<string, string>> {
  // The parser makes `pairs` of texts only.
  return typeof set === 'object' && set !== null ? (set as Record<string, string>) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The request field that the operands stand for. */
export function sourceFieldOf(kind: JobKind): 'source' | 'subtitle' {
  return KINDS[kind].input === 'video' ? 'source' : 'subtitle';
}

/** Any source passes here: whether the real one is usable is another check. */
const ANY_SOURCE = { type: 'upload', upload_id: 'checked elsewhere' };

function fieldProblems(kind: JobKind, fields: Readonly<Record<string, unknown>>): InputProblem[] {
  const options = new Map<string, string>(fieldOptions(kind).map(({ field, option }) => [field, option]));
  // What --body adds beyond the table is the service's to judge.
  const known = Object.entries(fields).filter(([field]) => options.has(field));
  const checked = checkJobRequest(kind, { ...Object.fromEntries(known), [sourceFieldOf(kind)]: ANY_SOURCE });
  if (checked.ok) return [];
  return checked.errors.map(({ pointer, detail }) => {
    const field = pointer.slice(1);
    const value = fields[field];
    return {
      pointer: flagName(options.get(field) ?? field),
      detail: `${detail}${typeof value === 'string' ? `: ${value}` : ''}`,
    };
  });
}

/** Where the single result will go, or null while its name depends on what the job finds out. */
function expectedPath(
  kind: JobKind,
  delivery: Delivery,
  input: JobInput,
  language: string | null,
): string | null {
  const assets = Object.values(KINDS[kind].result).filter((part) => part.type === 'asset');
  const [asset] = assets;
  const needsLanguage = delivery.template.includes('{lang}') && language === null;
  if (asset === undefined || needsLanguage || delivery.template.includes('{id}')) return null;
  const parts: NameParts = {
    stem: input.stem,
    lang: language ?? '',
    asset: asset.label,
    id: '',
    ext: asset.extension,
  };
  return resultPath(delivery.folder, delivery.template, parts);
}

function unusable(problems: readonly InputProblem[]): Failure {
  const count = problems.length === 1 ? 'One thing stands' : `${problems.length} things stand`;
  return new Failure({
    category: 'usage',
    code: 'NOT_USABLE',
    message: `${count} in the way; nothing was sent`,
    errors: problems,
  });
}
