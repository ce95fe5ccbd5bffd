/** Checks `engines.json` and describes its mistakes: which entry, which field, what is wrong, what to write instead. */
import * as v from 'valibot';
import { configurationFailure } from '../base/failure.ts';
import { BACKEND_STEPS, type BackendStep } from '../media/work.ts';
import { nearestName } from '../protocol/nearest.ts';
import { defaultEngines, ENTRIES, type EnginesConfig, EnginesFile } from './config.ts';

/** One mistake, as it is printed. */
interface Mistake {
  /** `translate[0] (openai) model`. Never a value: it may be a key. */
  readonly pointer: string;
  readonly detail: string;
}

type Key = string | number;
type Issue = v.BaseIssue<unknown>;

/**
 * Checks a parsed file, or the object that a program passes.
 * @param source the path of the file, or what the object is called
 * @throws Failure (`configuration`) that lists every mistake
 */
export function checkEngines(value: unknown, source: string): EnginesConfig {
  const mistakes = isObject(value) ? findMistakes(value) : [{ pointer: source, detail: NO_OBJECT }];
  if ('config' in mistakes) return mistakes.config;
  throw configurationFailure(
    'ENGINES_INVALID',
    `${source} cannot be used`,
    'Fix it, or write entries with `vloc engines add`.',
    { errors: mistakes },
  );
}

/** Begins the detail of a field that an entry does not have; a newer version may. */
export const NO_FIELD = 'this version of vloc has no such field';

const NO_OBJECT = `must be an object of steps: ${BACKEND_STEPS.join(', ')}`;

function findMistakes(value: object): readonly Mistake[] | { readonly config: EnginesConfig } {
  const result = v.safeParse(EnginesFile, value);
  if (result.success) return { config: result.output };
  return result.issues
    .flatMap((issue) => leaves(issue, []))
    .map(({ issue, path }) => describe(issue, path, value));
}

interface Leaf {
  readonly issue: Issue;
  readonly path: readonly Key[];
}

/** The issues inside the alternatives of a union that fit the kind of value; those of a union with its own message stay inside. */
function leaves(issue: Issue, before: readonly Key[]): Leaf[] {
  const path = [...before, ...(issue.path ?? []).map(({ key }) => key as Key)]; // JSON has no other keys
  // An object was not meant as a name.
  const isForNames = ({ type, path: inside }: Issue) =>
    inside === undefined && /^(picklist|string)$/.test(type);
  const fitting = (issue.issues ?? []).filter((inner) => isObject(issue.input) && !isForNames(inner));
  const isWorded = !issue.message.startsWith('Invalid');
  if (issue.type !== 'union' || isWorded || fitting.length === 0) return [{ issue, path }];
  return fitting.flatMap((inner) => leaves(inner, path));
}

function describe(issue: Issue, path: readonly Key[], file: object): Mistake {
  const [step, place, ...field] = path;
  if (!isStep(step)) return { pointer: String(step), detail: describeStep(String(step), issue) };
  if (typeof place !== 'number') return { pointer: step, detail: issue.message };
  const entry = entryAt(file, step, place);
  const type = isObject(entry) && 'type' in entry && typeof entry.type === 'string' ? entry.type : null;
  const shown = type === null || field[0] === 'type' ? '' : ` (${type})`;
  const pointer = `${step}[${place}]${shown}${field.length === 0 ? '' : ` ${writePath(field)}`}`;
  if (field.length === 0) return { pointer, detail: describeEntry(step, entry) };
  if (field[0] === 'type') return { pointer, detail: describeType(step, type) };
  return { pointer, detail: describeField(issue, step, type ?? '', field) };
}

function describeStep(name: string, { message }: Issue): string {
  if (name === '$schema') return message;
  return `this version of vloc has no such step; ${suggest(name, BACKEND_STEPS)}`;
}

/** An entry that is neither an object nor the name of the built-in engine. */
function describeEntry(step: BackendStep, entry: unknown): string {
  const builtIn = defaultEngines(step);
  const own = builtIn.map((name) => `, or "${name}"`).join('');
  if (typeof entry !== 'string' || builtIn.length === 0) return `must be an object with a "type"${own}`;
  const names = builtIn.map((name) => `"${name}"`).join(' and ');
  const only = builtIn.length === 1 ? 'is the only name' : 'are the only names';
  const here = `${names} ${only} here; every other engine is an object with a "type"`;
  const home = BACKEND_STEPS.find((other) => defaultEngines(other).includes(entry));
  if (home !== undefined) return `"${entry}" belongs to the step "${home}"; ${here}`;
  const meant = nearestName(entry, builtIn);
  return meant === null ? here : `did you mean "${meant}"?`;
}

function describeType(step: BackendStep, type: string | null): string {
  const types = typesOf(step);
  const known = `types for "${step}" are ${types.join(', ')}`;
  if (type === null) return `is missing; ${known}`;
  const isElsewhere = BACKEND_STEPS.some((other) => typesOf(other).includes(type));
  if (isElsewhere) return `"${type}" cannot ${step}; ${known}`;
  return `this version of vloc has no such type; ${suggest(type, types)}`;
}

function describeField(issue: Issue, step: BackendStep, type: string, field: readonly Key[]): string {
  if (issue.type !== 'strict_object') return issue.message;
  const fields = fieldsOf(step, type);
  const [name = ''] = field;
  if (issue.expected === 'never') {
    // Deeper objects are those of voices.
    const known = field.length === 1 ? Object.keys(fields) : ['auto', 'female', 'male'];
    return `${NO_FIELD}; ${suggest(String(field.at(-1)), known)}`;
  }
  if (issue.received !== 'undefined') return issue.message;
  const schema = fields[String(name)];
  const meaning = schema === undefined ? undefined : v.getDescription(schema);
  return `is missing${meaning === undefined ? '' : `: ${meaning.charAt(0).toLowerCase()}${meaning.slice(1).replace(/\.$/, '')}`}`;
}

function suggest(given: string, known: readonly string[]): string {
  const meant = nearestName(given, known);
  return meant === null ? `known: ${known.join(', ')}` : `did you mean ${meant}?`;
}

/** The types of engines for a step, besides the built-in one. */
export function typesOf(step: BackendStep): readonly string[] {
  return ENTRIES[step].options.map((option) => option.entries.type.literal);
}

/** The fields of an entry that users write, with their schemas; empty for an unknown type. */
export function fieldsOf(step: BackendStep, type: string): Readonly<Record<string, v.GenericSchema>> {
  const option = ENTRIES[step].options.find(({ entries }) => entries.type.literal === type);
  const { managed: _, ...fields } = option?.entries ?? {};
  return fields;
}

function isStep(name: Key | undefined): name is BackendStep {
  return BACKEND_STEPS.some((step) => step === name);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function entryAt(file: object, step: BackendStep, place: number): unknown {
  const list: unknown = Object.entries(file).find(([name]) => name === step)?.[1];
  return Array.isArray(list) ? list[place] : undefined;
}

/** `voices.es.female`, `run[0]`. */
function writePath(path: readonly Key[]): string {
  return path
    .map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at === 0 ? '' : '.'}${key}`))
    .join('');
}
