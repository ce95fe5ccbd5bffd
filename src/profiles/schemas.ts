/** The forms of the profiles file and of the project file. Loaded only when one of them is read: valibot takes time. */
import * as v from 'valibot';
import { nearestName } from '../protocol/nearest.ts';
import type { Profile, ProfileDocument } from './profile.ts';
import {
  assembleSettings,
  PROFILE_SETTINGS,
  PROJECT_SETTINGS,
  type ProfileName,
  type ProjectName,
  SETTINGS,
  type SettingRows,
} from './settings.ts';

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
      assembleSettings<ProfileFields>([
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

/**
 * The document, or the place of the error in it; never a value, which may be a secret.
 * @returns `unknown` for what only a newer version can have written
 */
export function parseDocument(
  value: unknown,
): ProfileDocument | { readonly wrongAt: string } | { readonly unknown: string } {
  const result = v.safeParse(DocumentSchema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const wrongAt = v.getDotPath(issue) ?? 'the whole of it';
  const { input } = issue;
  if (wrongAt === 'version' && typeof input === 'number' && input > 1) return { unknown: `version ${input}` };
  return isUnknownField(issue) ? { unknown: `the field ${wrongAt}` } : { wrongAt };
}

function isUnknownField(issue: v.BaseIssue<unknown>): boolean {
  return issue.type === 'strict_object' && issue.expected === 'never';
}

const optionalText = v.optional(v.pipe(v.string(), v.nonEmpty('must not be empty')));

const FIELDS = {
  /** For editors. */
  $schema: v.optional(v.string()),
  ...assembleSettings<Readonly<Record<SettingRows[ProjectName]['field'], typeof optionalText>>>(
    PROJECT_SETTINGS.map((name) => [SETTINGS[name].field, optionalText]),
  ),
  /** Values for options that are not given, by the option's name with underscores. */
  defaults: v.optional(v.record(v.string(), v.unknown())),
};

const ProjectSchema = v.strictObject(FIELDS);

export type ProjectSettings = v.InferOutput<typeof ProjectSchema>;

/** Names of fields that a shared file must not have: secrets, and commands that a stranger could have written. */
const SECRET_NAME = /^(?:api_?)?key$|secret|password|token/i;

interface FieldFault {
  readonly pointer: string;
  readonly detail: string;
}

/** The settings, or the errors in them, by field. */
export function parseProject(value: unknown): ProjectSettings | { readonly errors: readonly FieldFault[] } {
  const secrets = findSecrets(value);
  if (secrets.length > 0) return { errors: secrets };
  const result = v.safeParse(ProjectSchema, value);
  return result.success ? result.output : { errors: result.issues.map(describe) };
}

function findSecrets(value: unknown): FieldFault[] {
  if (typeof value !== 'object' || value === null) return [];
  const places = 'defaults' in value && isObject(value.defaults) ? { ...value, ...value.defaults } : value;
  return Object.keys(places)
    .filter((name) => SECRET_NAME.test(name))
    .map((name) => ({
      pointer: name,
      detail:
        'does not belong in a file that is shared: use a profile (`vloc profile add`), VLOC_KEY and VLOC_SECRET',
    }));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function describe(issue: v.BaseIssue<unknown>): FieldFault {
  const pointer = v.getDotPath(issue) ?? 'the file';
  if (!isUnknownField(issue)) return { pointer, detail: issue.message };
  const meant = nearestName(pointer, Object.keys(FIELDS));
  const known = Object.keys(FIELDS).filter((name) => name !== '$schema');
  return {
    pointer,
    detail: `this version of vloc has no such setting; ${meant === null ? `known: ${known.join(', ')}` : `did you mean ${meant}?`}`,
  };
}
