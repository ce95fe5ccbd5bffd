/** Output schemas of the `models` commands. */
import * as v from 'valibot';
import { describeList, describeRecord } from '../context/output-schemas.ts';

const MODEL = v.object({
  id: v.string(),
  step: v.picklist(['recognize', 'translate', 'speak', 'diarize']),
  title: v.string(),
  size: v.picklist(['small', 'large']),
  state: v.picklist(['absent', 'complete', 'outdated', 'damaged']),
  languages: v.array(v.string()),
  bytes: v.number(),
  memory_mib: v.number(),
  licence: v.string(),
  licence_url: v.string(),
  commercial: v.picklist(['yes', 'no', 'unclear']),
  notice: v.string(),
  published: v.array(v.object({ figure: v.string(), source: v.string(), date: v.string() })),
  files: v.array(v.object({ path: v.string(), url: v.string(), bytes: v.number(), sha256: v.string() })),
});

export const MODELS = describeList(MODEL);
export const MODEL_RECORD = describeRecord(MODEL);
