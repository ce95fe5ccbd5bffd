/** The journal records of how results were made. Journals of earlier versions have none. */
import * as v from 'valibot';
import { CUE_FITS, PROVENANCE_STEPS, type Provenance } from '../protocol/provenance.ts';
import { readRecord } from './records/read-record.ts';
import type { LogRecord } from './records/record-line.ts';

/** Usual values are omitted: a batch may have thousands of cues. */
const provenanceRecord = v.object({
  type: v.literal('made'),
  /** Of the intent. */
  key: v.string(),
  engines: v.array(
    v.object({
      step: v.picklist(PROVENANCE_STEPS),
      engine: v.string(),
      skipped: v.optional(v.array(v.string()), []),
      reused: v.exactOptional(v.boolean()),
      silent: v.exactOptional(v.boolean()),
      unshown: v.exactOptional(v.array(v.string())),
    }),
  ),
  cues: v.array(
    v.object({
      cues: v.array(v.number()),
      fit: v.picklist(CUE_FITS),
      speed: v.optional(v.number(), 1),
      tempo: v.optional(v.number(), 1),
      cut_seconds: v.optional(v.number(), 0),
    }),
  ),
});

/** The record of how the job of an intent made its result; none if the service does not say. */
export function writeProvenance(key: string, provenance: Provenance | null): readonly LogRecord[] {
  if (provenance === null) return [];
  const engines = provenance.engines.map(({ skipped, ...use }) => ({
    ...use,
    ...(skipped.length === 0 ? {} : { skipped }),
  }));
  const cues = provenance.cues.map(({ cues: numbers, fit, speed, tempo, cut_seconds }) => ({
    cues: numbers,
    fit,
    ...(speed === 1 ? {} : { speed }),
    ...(tempo === 1 ? {} : { tempo }),
    ...(cut_seconds === 0 ? {} : { cut_seconds }),
  }));
  return [{ type: 'made', key, engines, cues }];
}

/** How the job of each intent made its result, by the key of the intent. */
export function readProvenances(records: readonly LogRecord[]): ReadonlyMap<string, Provenance> {
  const provenances = new Map<string, Provenance>();
  for (const record of records) {
    const read = readRecord(provenanceRecord, record);
    if (read !== null) provenances.set(read.key, { engines: read.engines, cues: read.cues });
  }
  return provenances;
}
