/** Output schemas of the `profile` commands. */
import * as v from 'valibot';
import { describeList, describeRecord, NullableText } from '../context/output-schemas.ts';
import { PROFILE_FIELDS } from './profiles.ts';

const ProfileSchema = v.object({
  ...Object.fromEntries(PROFILE_FIELDS.map((field) => [field, NullableText])),
  name: v.string(),
  in_use: v.boolean(),
});

export const PROFILE_RECORD = describeRecord(ProfileSchema);
export const PROFILE_LIST = describeList(ProfileSchema);
export const SHOWN_SETTINGS = describeList(
  v.object({ setting: v.string(), value: NullableText, origin: NullableText }),
);
