/**
 * Validators of request bodies, generated from the table of kinds. The client checks requests with them before sending;
 * the service refuses invalid ones.
 */
import * as v from 'valibot';
import { ADDRESS_CHARACTERS, parseAddress } from './address.ts';
import { COMMON_FIELDS, type Field } from './fields.ts';
import type { JobKind } from './kind-names.ts';
import { KINDS } from './kinds.ts';
import { canonicalLanguage, describeSpecialTag } from './language-tag.ts';
import { LIMITS } from './limits.ts';
import { isLoopback } from './loopback.ts';
import type { FieldError } from './problem.ts';
import type { CompletionRequest, JobRequest, UploadRequest } from './request-types.ts';
import { UPLOAD_PURPOSES } from './states.ts';
import { isLongerThan, type SubtitleLine } from './subtitle-line.ts';

/** The limit is stored with the rule, for the document that is generated from these validators. */
const characters = (limit: number) =>
  Object.assign(
    v.check((text: string) => !isLongerThan(limit, text), `at most ${limit} characters`),
    { maxLength: limit },
  );

const Reference = v.pipe(
  v.string(),
  v.nonEmpty('at least 1 character'),
  characters(LIMITS.clientReferenceLength),
);

/**
 * The interface and its document allow only https for callbacks. But a service may be configured to allow loopback, which only the
 * service knows. So http to this machine passes here, and the service decides.
 */
const startsSecurely = Object.assign(
  v.check((text: string) => text.startsWith('https://') || isPlainLoopback(text), 'must be an https address'),
  { pattern: ADDRESS_CHARACTERS.source.replace('^', '^https://') },
);

function isPlainLoopback(text: string): boolean {
  const url = text.startsWith('http://') ? parseAddress(text) : null;
  return url !== null && isLoopback(url);
}

/** Accepts any scheme: the service refuses a source that it cannot fetch with 422, like every unusable input. */
const SourceAddress = v.pipe(
  v.string(),
  v.maxLength(2048, 'at most 2048 characters'), // spec: open — the common limit of browsers and proxies
  v.regex(ADDRESS_CHARACTERS, 'has a space, a backslash or a control character; write it percent-encoded'),
  Object.assign(
    v.check(
      // One message for one mistake.
      (text: string) => !ADDRESS_CHARACTERS.test(text) || parseAddress(text) !== null,
      'not an address',
    ),
    { format: 'uri' },
  ),
);

const CallbackAddress = v.pipe(SourceAddress, startsSecurely);

/** A message for a language that cannot be requested. */
const languageMessage =
  (invalid: string) =>
  ({ input }: { readonly input: unknown }) =>
    describeSpecialTag(String(input)) ?? invalid;

const Language = v.pipe(
  v.string(),
  v.check((tag) => canonicalLanguage(tag) !== null, languageMessage('not a BCP 47 language tag')),
  v.transform((tag) => canonicalLanguage(tag) ?? tag),
);

const LanguageOrAuto = v.union(
  [v.literal('auto'), Language],
  languageMessage('neither a BCP 47 language tag nor auto'),
);

const UrlSource = v.strictObject({ type: v.literal('url'), url: SourceAddress });
const UploadSource = v.strictObject({
  type: v.literal('upload'),
  upload_id: v.pipe(v.string(), v.nonEmpty('missing')),
});

const wholeNumber = v.pipe(
  v.number(),
  v.safeInteger('must be a whole number'),
  v.minValue(0, 'must not be negative'),
);

const lineTime = v.pipe(wholeNumber, v.maxValue(LIMITS.lineEndMs, 'must be under 1,000 hours'));

export const LineSchema = v.pipe(
  v.strictObject({
    index: v.pipe(wholeNumber, v.minValue(1, 'starts at 1')),
    start_ms: lineTime,
    end_ms: lineTime,
    text: v.pipe(
      v.string(),
      v.check((text) => text.trim() !== '', 'must not be empty'),
      characters(LIMITS.lineCharacters),
    ),
  }),
  v.check((line) => line.start_ms < line.end_ms, 'start_ms must be before end_ms'),
);

const linesOf = (most: number) =>
  v.pipe(
    // Counted first: otherwise each line of a body with millions of lines would be checked before it is refused.
    v.array(v.unknown()),
    v.minLength(1, 'at least 1 line'),
    v.maxLength(most, `at most ${most} lines`),
    v.metadata({ items: LineSchema }),
    v.array(LineSchema),
  );

const LinesSource = v.strictObject({ type: v.literal('lines'), lines: linesOf(LIMITS.subtitleLines) });

function schemaOf(field: Field): v.GenericSchema {
  switch (field.type) {
    case 'source':
      return v.variant('type', [UrlSource, UploadSource]);
    case 'subtitle':
      return v.variant('type', [UrlSource, UploadSource, LinesSource]);
    case 'language':
      return field.required ? Language : v.optional(LanguageOrAuto, field.default);
    case 'choice':
      return v.optional(v.picklist(field.choices), field.default);
    case 'reference':
      return v.optional(Reference);
    case 'callback':
      return v.optional(CallbackAddress);
  }
}

/** The validator of a kind's create request. Its JSON Schema is generated from it. */
export function requestSchema(kind: JobKind): v.GenericSchema {
  const all: Record<string, Field> = { ...KINDS[kind].fields, ...COMMON_FIELDS };
  return v.strictObject(
    Object.fromEntries(Object.entries(all).map(([name, field]) => [name, schemaOf(field)])),
  );
}

export const UploadRequestSchema = v.strictObject({
  purpose: v.picklist(UPLOAD_PURPOSES),
  file_name: v.pipe(v.string(), v.nonEmpty('missing'), characters(LIMITS.fileNameLength)),
  content_type: v.pipe(
    v.string(),
    v.regex(/^[\w.+-]+\/[\w.+-]+$/, 'not a media type'),
    v.maxLength(127, 'at most 127 characters'),
  ),
  size_bytes: v.pipe(wholeNumber, v.minValue(1, 'the file is empty')),
  client_reference: v.optional(Reference),
});

export const CompletionRequestSchema = v.strictObject({
  etag: v.pipe(v.string(), v.regex(/^(?:"[A-Za-z0-9-]{1,128}"|[A-Za-z0-9-]{1,128})$/, 'not an ETag')),
});

/** Enough to show what is wrong. An answer to 10,000 wrong lines would have megabytes. */
const MOST_ERRORS = 100;

/** Either the value, or the invalid fields, at most 100 of them. */
type Checked<T> = { ok: true; value: T } | { ok: false; errors: FieldError[] };

function check<S extends v.GenericSchema>(schema: S, body: unknown): Checked<v.InferOutput<S>> {
  const result = v.safeParse(schema, body);
  if (result.success) return { ok: true, value: result.output };
  return { ok: false, errors: result.issues.slice(0, MOST_ERRORS).map(describeIssue) };
}

function describeIssue(issue: v.BaseIssue<unknown>): FieldError {
  const path = (issue.path ?? []).map((item) => String(item.key).replaceAll('~', '~0').replaceAll('/', '~1'));
  return { pointer: path.map((key) => `/${key}`).join(''), detail: describeRule(issue) };
}

/** Plain messages for the two most common mistakes. The library's own messages mention keys, never and undefined. */
function describeRule(issue: v.BaseIssue<unknown>): string {
  if (issue.type === 'strict_object' && issue.expected === 'never') return 'there is no such field';
  if (issue.received === 'undefined') return 'is required';
  return issue.message;
}

/** Checks the body of a create request against the rules of its kind. */
export function checkJobRequest<K extends JobKind>(kind: K, body: unknown): Checked<JobRequest<K>> {
  return check(requestSchema(kind), body) as Checked<JobRequest<K>>; // both come from the same row of the table
}

/** Checks the body of `POST /uploads`. */
export function checkUploadRequest(body: unknown): Checked<UploadRequest> {
  return check(UploadRequestSchema, body);
}

/** Checks the body of `POST /uploads/{upload_id}/completions`. */
export function checkCompletionRequest(body: unknown): Checked<CompletionRequest> {
  return check(CompletionRequestSchema, body);
}

/**
 * Checks structured lines that do not come from a request, for example from a file. `most` is the allowed number of
 * lines.
 */
export function checkLines(lines: unknown, most: number = LIMITS.subtitleLines): Checked<SubtitleLine[]> {
  return check(linesOf(most), lines);
}
