/** The form of the file of the profiles; a file that differs was damaged, or written by another version. */
import * as v from 'valibot';
import type { Profile, ProfileDocument } from './profile.ts';
import { assemble, PROFILE_SETTINGS, type ProfileName, SETTINGS } from './settings.ts';

const text = v.pipe(v.string(), v.nonEmpty());

const SecretSchema = v.variant('type', [
  v.strictObject({ type: v.literal('file'), value: text }),
  v.strictObject({ type: v.literal('keychain'), account: text }),
  v.strictObject({ type: v.literal('command'), command: text }),
]);

type ProfileFields = { readonly [Field in keyof Profile]-?: v.GenericSchema<unknown, Profile[Field]> };

const DocumentSchema = v.strictObject({
  version: v.literal(1),
  current: v.optional(text),
  profiles: v.array(
    v.strictObject(
      assemble<ProfileFields>([
        ['name', text],
        ...PROFILE_SETTINGS.map((name) => [SETTINGS[name].field, schemaOf(name)] as const),
      ]),
    ),
  ),
});

function schemaOf(name: ProfileName) {
  const { isSecret, inProfile } = SETTINGS[name];
  if (inProfile === 'required') return isSecret ? SecretSchema : text;
  return isSecret ? v.optional(SecretSchema) : v.optional(text);
}

/** The document, or the place of what is wrong in it; never a value, which may be a secret. */
export function parseDocument(value: unknown): ProfileDocument | { readonly wrongAt: string } {
  const result = v.safeParse(DocumentSchema, value);
  if (result.success) return result.output;
  return { wrongAt: v.getDotPath(result.issues[0]) ?? 'the whole of it' };
}
