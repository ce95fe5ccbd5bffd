/** Options made into the requests of one input: one for each language. */
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS, type Kind } from '../../protocol/kinds.ts';
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import { checkJobRequest } from '../../protocol/requests.ts';
import { fieldFlags, flagName, sourceFieldOf } from './field-flags.ts';
import type { InputProblem } from './input.ts';
import { setFields } from './set-fields.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface PlannedRequest {
  /** Null for kinds that produce no other language. */
  readonly targetLanguage: string | null;
  /** The request without its source. */
  readonly fields: Fields;
}

/**
 * @param body fields from --body, which options win over
 * @param options by option name, those of a sheet's row already among them
 */
export function buildRequests(
  kind: JobKind,
  body: Fields,
  options: Fields,
  problems: InputProblem[],
): readonly PlannedRequest[] {
  const row: Kind = KINDS[kind];
  const common: Record<string, unknown> = { ...body };
  for (const { field, option } of fieldFlags(kind)) {
    if (field !== 'target_language' && options[option] !== undefined) common[field] = options[option];
  }
  const pairs = pairsOf(options.set);
  for (const named of [...Object.keys(body), ...Object.keys(pairs)]) {
    if (named.split('.')[0] === sourceFieldOf(kind))
      problems.push({ pointer: named, detail: 'is set by the operand; give it there' });
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

/** Any source passes here: whether the real one is usable is another check. */
const ANY_SOURCE = { type: 'upload', upload_id: 'checked elsewhere' };

function fieldProblems(kind: JobKind, fields: Fields): InputProblem[] {
  const options = new Map<string, string>(fieldFlags(kind).map(({ field, option }) => [field, option]));
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
