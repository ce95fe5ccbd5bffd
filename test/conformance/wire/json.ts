/** Reads JSON from a service. Fails with the path of a value that is missing or has another type. */
import assert from 'node:assert/strict';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Returns the start of a value, for messages. */
export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  // One line of a terminal. More would hide the message.
  return text.length <= 120 ? text : `${text.slice(0, 120)}…`;
}

/** Returns true for a JSON object; false for null and for arrays. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value if it is an object, else fails. */
export function asObject(value: unknown, what = 'the body'): JsonObject {
  if (!isObject(value)) assert.fail(`${what} must be an object, is ${show(value)}`);
  return value;
}

/** Returns the value at a path of member names. Fails if one is missing. */
export function valueAt(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  path.forEach((name, depth) => {
    const parent = asObject(current, path.slice(0, depth).join('.') || 'the body');
    if (!Object.hasOwn(parent, name)) {
      assert.fail(`"${path.slice(0, depth + 1).join('.')}" is missing in ${show(value)}`);
    }
    current = parent[name];
  });
  return current;
}

/** Returns the string at a path of member names. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = valueAt(value, ...path);
  if (typeof found !== 'string') assert.fail(`"${path.join('.')}" must be a string, is ${show(found)}`);
  return found;
}

/** Returns the number at a path of member names. */
export function numberAt(value: unknown, ...path: readonly string[]): number {
  const found = valueAt(value, ...path);
  if (typeof found !== 'number') assert.fail(`"${path.join('.')}" must be a number, is ${show(found)}`);
  return found;
}

/** Returns the boolean at a path of member names. */
export function booleanAt(value: unknown, ...path: readonly string[]): boolean {
  const found = valueAt(value, ...path);
  if (typeof found !== 'boolean') assert.fail(`"${path.join('.')}" must be a boolean, is ${show(found)}`);
  return found;
}

/** Returns the array at a path of member names. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = valueAt(value, ...path);
  if (!Array.isArray(found)) assert.fail(`"${path.join('.')}" must be an array, is ${show(found)}`);
  return found;
}

/** Returns an RFC 3339 date-time in ms since 1970. */
export function instantAt(value: unknown, ...path: readonly string[]): number {
  const text = textAt(value, ...path);
  const isDateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i.test(text);
  if (!isDateTime || Number.isNaN(Date.parse(text))) {
    assert.fail(`"${path.join('.')}" must be a date-time with a time zone, is ${show(text)}`);
  }
  return Date.parse(text);
}
