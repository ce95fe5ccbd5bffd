/** Request fields beyond the known ones, from --set. */
import type { InputProblem } from './input.ts';

type Fields = Record<string, unknown>;

/** Names that would change what every object inherits. */
const FORBIDDEN = ['__proto__', 'constructor', 'prototype'];

/**
 * The fields with what --set names put into them: `tone=formal`, `count=3`, `voice.speed=1.2`. A value that is JSON is
 * taken as JSON, everything else as text. What it is worth is the service's to judge.
 */
export function setFields(
  fields: Readonly<Fields>,
  pairs: Readonly<Record<string, string>>,
  problems: InputProblem[],
): Fields {
  // A copy: one request for each language is made of the same fields.
  const result: Fields = structuredClone(fields);
  for (const [name, text] of Object.entries(pairs)) {
    const path = name.split('.');
    if (path.some((part) => part === '' || FORBIDDEN.includes(part))) {
      problems.push({ pointer: `--set ${name}`, detail: 'is not a valid field name' });
      continue;
    }
    if (!put(result, path, readValue(text))) {
      problems.push({ pointer: `--set ${name}`, detail: 'sets a part of a field that is not an object' });
    }
  }
  return result;
}

function put(object: Fields, [name = '', ...rest]: readonly string[], value: unknown): boolean {
  if (rest.length === 0) {
    object[name] = value;
    return true;
  }
  object[name] ??= {};
  const inner = object[name];
  return isObject(inner) && put(inner, rest, value);
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
