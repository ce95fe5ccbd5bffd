/** The form of the project file. Loaded only when one is read: valibot takes time. */
import * as v from 'valibot';
import { nearestName } from '../protocol/nearest.ts';
import {
  assembleSettings,
  PROJECT_SETTINGS,
  type ProjectName,
  SETTINGS,
  type SettingRows,
} from './settings.ts';

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
  const isUnknown = issue.type === 'strict_object' && issue.expected === 'never';
  if (!isUnknown) return { pointer, detail: issue.message };
  const meant = nearestName(pointer, Object.keys(FIELDS));
  const known = Object.keys(FIELDS).filter((name) => name !== '$schema');
  return {
    pointer,
    detail: `this version of vloc has no such setting; ${meant === null ? `known: ${known.join(', ')}` : `did you mean ${meant}?`}`,
  };
}
