/** Validators made into JSON Schema, with what their actions say beyond what the library can translate. */
import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import type * as v from 'valibot';

/** JSON as the document is made of. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** `readonly` says who may write; it is no part of what goes over the wire. */
type Written<T> = T extends readonly (infer Item)[]
  ? Written<Item>[]
  : T extends object
    ? { -readonly [Name in keyof T]: Written<T[Name]> }
    : T;

/** True for identical types only: being assignable would let optional fields slip through. */
type Identical<Left, Right> =
  (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false;

type SameShape<Type, S extends v.GenericSchema> =
  Identical<Written<Type>, Written<v.InferOutput<S>>> extends true ? S : never;

/** Gives back a validator of exactly `Type`; any other one does not compile. */
export function shapeOf<Type>(): <S extends v.GenericSchema>(schema: SameShape<Type, S>) => S {
  return (schema) => schema;
}

type OverrideAction = NonNullable<ConversionConfig['overrideAction']>;

/** Rules in code that no schema can hold; a request that breaks one is answered with 400 all the same. */
const CODE_ONLY: readonly string[] = ['check', 'transform'];

const overrideAction: OverrideAction = ({ valibotAction, jsonSchema }) => {
  const { type } = valibotAction;
  if (CODE_ONLY.includes(type)) {
    if ('maxLength' in valibotAction) return { ...jsonSchema, maxLength: Number(valibotAction.maxLength) };
    // A string has one `pattern`: the start of an address goes beside the one that keeps control characters out.
    if ('pattern' in valibotAction) {
      return { ...jsonSchema, allOf: [{ pattern: String(valibotAction.pattern) }] };
    }
    return jsonSchema;
  }
  // JSON Schema reads patterns with the flag `u` anyway.
  if (type === 'regex' && 'requirement' in valibotAction && valibotAction.requirement instanceof RegExp) {
    return { ...jsonSchema, pattern: valibotAction.requirement.source };
  }
  const items = type === 'metadata' && 'metadata' in valibotAction ? itemsOf(valibotAction.metadata) : null;
  if (items === null) return null;
  const { $schema: _dialect, ...described } = toJsonSchema(items, CONFIG);
  return { ...jsonSchema, items: described };
};

/** What a list holds, where a pipe counts the items before it looks at them. */
function itemsOf(metadata: unknown): v.GenericSchema | null {
  if (typeof metadata !== 'object' || metadata === null || !('items' in metadata)) return null;
  return metadata.items as v.GenericSchema; // only our own validators are translated; they put one there
}

const CONFIG: ConversionConfig = {
  target: 'draft-2020-12',
  // Requests as callers write them: fields with defaults are optional.
  typeMode: 'input',
  overrideAction,
};

/** JSON Schemas by name; where one holds another of them, it refers to it among the components of the document. */
export function describeSchemas(schemas: Readonly<Record<string, v.GenericSchema>>): JsonSchema {
  return toJsonSchemaDefs(
    { ...schemas },
    { ...CONFIG, overrideRef: ({ referenceId }) => referenceTo(referenceId) },
  );
}

/** Where a schema of that name stands in the document. */
export function referenceTo(name: string): string {
  return `#/components/schemas/${name}`;
}
