/** The form of the profiles file as JSON Schema, by which conf checks what it reads and writes. Made from the table of settings. */
import { PROFILE_SETTINGS, SETTINGS, type SecretSource } from './settings.ts';

const text = { type: 'string', minLength: 1 };

function strictObject(properties: Readonly<Record<string, object>>, required = Object.keys(properties)) {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** The field of each source of a secret. */
const SOURCES: { readonly [Type in SecretSource['type']]: string } = {
  file: 'value',
  keychain: 'account',
  command: 'command',
};

const secret = {
  type: 'object',
  required: ['type'],
  discriminator: { propertyName: 'type' },
  oneOf: Object.entries(SOURCES).map(([type, field]) =>
    strictObject({ type: { const: type }, [field]: text }),
  ),
};

const rows = PROFILE_SETTINGS.map((name) => SETTINGS[name]);

const profile = strictObject(
  {
    name: text,
    ...Object.fromEntries(rows.map(({ field, isSecret }) => [field, isSecret ? secret : text])),
  },
  ['name', ...rows.filter(({ inProfile }) => inProfile === 'required').map(({ field }) => field)],
);

export const PROFILES_SCHEMA = strictObject(
  { version: { const: 1 }, current: text, profiles: { type: 'array', items: profile } },
  ['version', 'profiles'],
);
