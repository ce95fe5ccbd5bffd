/** Requests and plans as lines of the ledger: what differs from run to run has a stable name. */
import { hash } from 'node:crypto';
import { JOB_KIND_NAMES, type JobKind } from '../../src/protocol/kind-names.ts';
import { KINDS } from '../../src/protocol/kinds.ts';
import { countCharacters, quantityOf } from '../../src/protocol/metering.ts';
import { secondsOf } from '../hosted/media.ts';
import type { Hosted } from '../hosted/service.ts';
import type { StoredJob } from '../hosted/shapes.ts';

export type Sent = Hosted['requests'][number];

/** Jobs of a kind and their units, with the number of jobs whose units nobody knew. */
interface Sum {
  readonly jobs: number;
  readonly units: number;
  readonly unknown: number;
}
export type Sums = ReadonlyMap<JobKind, Sum>;

const NONE: Sum = { jobs: 0, units: 0, unknown: 0 };
/** In the order of a localization. */
const ORDER = [
  'auto_localization',
  'subtitle_recognition',
  'subtitle_translation',
  'dubbing',
  'audio_separation',
] as const satisfies readonly JobKind[];
const POST = /^\/v1\/([a-z-]+)$/;

function kindOf(path: string): JobKind | undefined {
  return JOB_KIND_NAMES.find((kind) => KINDS[kind].path === path);
}

/** Units that a job is charged. */
export function unitsOf(job: StoredJob): number {
  const kind = kindOf(job.path);
  if (kind === undefined) return 0;
  const { lines, bytes } = job.given;
  const size = { lines: lines.length, characters: countCharacters(lines), seconds: secondsOf(bytes) };
  return quantityOf(KINDS[kind].unit, size);
}

export function sumOf(jobs: Iterable<StoredJob>): Sums {
  const sums = new Map<JobKind, Sum>();
  for (const job of jobs) {
    const kind = kindOf(job.path);
    if (kind === undefined) continue;
    const { jobs: count, units, unknown } = sums.get(kind) ?? NONE;
    sums.set(kind, { jobs: count + 1, units: units + unitsOf(job), unknown });
  }
  return sums;
}

interface Plan {
  readonly kind: JobKind;
  readonly jobs: number;
  readonly quantity: number;
  readonly unmeasured: number;
  readonly continued: number;
  readonly done_before: number;
  readonly failed_before: number;
  readonly expired: number;
  readonly not_usable: number;
}

/** The plans of a document of --dry-run: one for each stage, or one. */
function plansIn(document: string): readonly Plan[] {
  if (document === '') return [];
  const plan: (Plan & { object: 'plan' }) | { object: 'stages'; stages: readonly Plan[] } =
    JSON.parse(document);
  return plan.object === 'stages' ? plan.stages : [plan];
}

export function plannedIn(document: string): Sums {
  const due = plansIn(document).filter(({ jobs }) => jobs > 0);
  return new Map(
    due.map(({ kind, jobs, quantity, unmeasured }) => [kind, { jobs, units: quantity, unknown: unmeasured }]),
  );
}

/** What the plan says of items that are not new, and where it would stop. */
export function describeOthers(document: string): string[] {
  const others = plansIn(document).flatMap(
    ({ kind, continued, done_before, failed_before, expired, not_usable }) =>
      Object.entries({ continued, done_before, failed_before, expired, not_usable })
        .filter(([, count]) => count > 0)
        .map(([name, count]) => `${count} ${kind} ${name.replace('_', ' ')}`),
  );
  const limit = document === '' ? null : JSON.parse(document).limit;
  return limit === null ? others : [...others, `limit: ${JSON.stringify(limit)}`];
}

export function describeSums(sums: Sums): string {
  const parts = ORDER.flatMap((kind) => {
    const sum = sums.get(kind);
    if (sum === undefined) return [];
    const known = sum.unknown === sum.jobs ? [] : [`${sum.units} ${KINDS[kind].unit}`];
    const unknown = sum.unknown === 0 ? [] : [`unknown units of ${sum.unknown}`];
    return [`${sum.jobs} ${kind} for ${[...known, ...unknown].join(' and ')}`];
  });
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

/** What was planned otherwise than it was sent; null if nothing was. Unknown units may be any. */
export function differenceOf(planned: Sums, sent: Sums): string | null {
  const parts = ORDER.flatMap((kind) => {
    const plan = planned.get(kind) ?? NONE;
    const end = sent.get(kind) ?? NONE;
    const isEqual = plan.unknown === 0 ? plan.units === end.units : plan.units <= end.units;
    if (plan.jobs === end.jobs && isEqual) return [];
    return [`${kind} planned ${plan.jobs} for ${plan.units}, sent ${end.jobs} for ${end.units}`];
  });
  return parts.length === 0 ? null : parts.join('; ');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, sorted(each)]));
}

/** Long lines of the scenes are padded with dots. */
export function shortened(text: string): string {
  return text.replace(/\.{20,}/g, (dots) => `.(${dots.length})`);
}

interface Entry {
  readonly kind: JobKind;
  readonly body: string;
  /** The Idempotency-Key as it was sent. */
  readonly key: string;
}

/** Gives ids, keys, uploads and folders of a scene their stable names. */
export function createNames(hosted: Hosted, isStable: (bytes: Buffer) => boolean) {
  const uploads = new Map<string, string>();
  const keys = new Map<string, string>();
  const batches = new Map<string, string>();

  function nameReference(text: string, content: Buffer | undefined): string {
    const [, batch = '', item = '', rest = ''] = /^vloc:([0-9a-f]{10}):([0-9a-f]{16})(.*)$/.exec(text) ?? [];
    if (batch === '') return text;
    const folder = named(batches, batch, (count) => (count === 1 ? 'BATCH' : `BATCH ${count}`));
    // Another version of ffmpeg cuts other bytes.
    const isCut = content !== undefined && !isStable(content);
    return `vloc:${folder}:${isCut ? 'PIECE' : item}${rest}`;
  }

  /** Names are given in the order of the questions. */
  function named(names: Map<string, string>, value: string, name: (count: number) => string): string {
    const known = names.get(value) ?? name(names.size + 1);
    names.set(value, known);
    return known;
  }

  return {
    /** The uploads that these requests have made, by name. */
    uploadsOf(sent: readonly Sent[]): string[] {
      const made = new Set(sent.flatMap(({ url }) => /^\/bucket\/([^?]+)/.exec(url)?.[1] ?? []));
      const all = [...hosted.uploads.values()].filter(({ id }) => made.has(id) && !uploads.has(id));
      const files = all.map(({ id, request, bytes }) => ({
        id,
        name: String(request.file_name),
        digest: hash('sha256', bytes ?? ''),
      }));
      files.sort((left, right) => (left.name + left.digest < right.name + right.digest ? -1 : 1));
      return files.map(({ id, name }) => `${named(uploads, id, (count) => `upload ${count}`)}: ${name}`);
    },
    /** The requests for jobs, in an order that does not depend on time. */
    entriesOf(sent: readonly Sent[]): Entry[] {
      const entries = sent.flatMap(({ method, url, headers, body }): Entry[] => {
        const kind = kindOf(POST.exec(url)?.[1] ?? '');
        if (method !== 'POST' || kind === undefined) return [];
        const fields: Record<string, unknown> = JSON.parse(body.toString());
        const source: { readonly upload_id?: string } | undefined = fields.source ?? fields.subtitle ?? {};
        const upload = hosted.uploads.get(source.upload_id ?? '');
        const content = upload?.bytes ?? undefined;
        const reference = nameReference(String(fields.client_reference ?? ''), content);
        const text = shortened(JSON.stringify(sorted({ ...fields, client_reference: reference })));
        const stable = upload === undefined ? text : text.replaceAll(upload.id, uploads.get(upload.id) ?? '');
        return [{ kind, body: stable, key: String(headers['idempotency-key']) }];
      });
      const order = ({ kind, body }: Entry) => `${ORDER.indexOf(kind)} ${body}`;
      return entries.sort((left, right) => (order(left) < order(right) ? -1 : 1));
    },
    keyOf: (key: string) => named(keys, key, (count) => `key ${count}`),
    isRepeated: (key: string) => keys.has(key),
  };
}
