/** Output schemas of the `subtitles` commands. */
import * as v from 'valibot';
import { describeList, NullableNumber, NullableText } from '../context/output-schemas.ts';

const FINDING = v.object({
  file: v.string(),
  row: NullableNumber,
  cue: v.number(),
  time: v.string(),
  rule: v.string(),
  severity: v.picklist(['error', 'warning']),
  message: v.string(),
  advice: v.string(),
});

export const SUBTITLE_FINDINGS = describeList(FINDING);
export const FIXED_SUBTITLES = describeList(
  v.object({
    file: v.string(),
    written: NullableText,
    changed_cues: v.number(),
    fixed: v.number(),
    left: v.array(FINDING),
  }),
);
