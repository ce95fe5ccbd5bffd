/** Converts validators to JSON Schema, including rules that the library cannot translate. */
import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import type * as v from 'valibot';

/** The JSON that the document consists of. */
export type JsonSchema = Readonly<Record<string, unknown>>;

type OverrideAction = NonNullable<ConversionConfig['overrideAction']>;

/** Rules in code that no schema can express. A request that breaks one is still answered with 400. */
const CODE_ONLY: readonly string[] = ['check', 'transform'];

const overrideAction: OverrideAction = ({ valibotAction, jsonSchema }) => {
  const { type } = valibotAction;
  if (CODE_ONLY.includes(type)) {
    if ('maxLength' in valibotAction) return { ...jsonSchema, maxLength: Number(valibotAction.maxLength) };
    if ('format' in valibotAction) return { ...jsonSchema, format: String(valibotAction.format) };
    // Replaces the pattern of an earlier rule: generators make `unknown` of a string with a second one in `allOf`.
    if ('pattern' in valibotAction) return { ...jsonSchema, pattern: String(valibotAction.pattern) };
    return jsonSchema;
  }
  // JSON Schema always reads patterns with the flag `u`.
  if (type === 'regex' && 'requirement' in valibotAction && valibotAction.requirement instanceof RegExp) {
    return { ...jsonSchema, pattern: valibotAction.requirement.source };
  }
  if (type === 'finite') return jsonSchema; // JSON has no other numbers
  const metadata = type === 'metadata' && 'metadata' in valibotAction ? valibotAction.metadata : null;
  // Facts about the command line, which the schema of the value does not have.
  if (typeof metadata === 'object' && metadata !== null && 'option' in metadata) return jsonSchema;
  const items = itemsOf(metadata);
  if (items === null) return null;
  const { $schema: _dialect, ...described } = toJsonSchema(items, CONFIG);
  return { ...jsonSchema, items: described };
};

/** Returns the item schema of a list whose pipe counts the items before it checks them. */
function itemsOf(metadata: unknown): v.GenericSchema | null {
  if (typeof metadata !== 'object' || metadata === null || !('items' in metadata)) return null;
  return metadata.items as v.GenericSchema; // only vloc's own validators are translated, and they set it
}

const CONFIG: ConversionConfig = {
  target: 'draft-2020-12',
  // Requests in the form that callers write: fields with defaults are optional.
  typeMode: 'input',
  overrideAction,
};

/** Returns JSON Schemas by name. A schema inside another one becomes a reference to the components of the document. */
export function describeSchemas(schemas: Readonly<Record<string, v.GenericSchema>>): JsonSchema {
  return toJsonSchemaDefs(
    { ...schemas },
    { ...CONFIG, overrideRef: ({ referenceId }) => referenceTo(referenceId) },
  );
}

/** Returns the JSON Schema of one validator, complete in itself. */
export function describeSchema(schema: v.GenericSchema): JsonSchema {
  const { $schema: _dialect, ...described } = toJsonSchema(schema, CONFIG);
  return described;
}

/** Returns the location of a named schema in the document. */
export function referenceTo(name: string): string {
  return `#/components/schemas/${name}`;
}
