/** Checks requests and answers of tests against the published API documents of OpenAI and LibreTranslate. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import libretranslate from '../../fixtures/libretranslate-openapi.json' with { type: 'json' };
import openai from '../../fixtures/openai-openapi.json' with { type: 'json' };

const DOCUMENTS = { openai, libretranslate };

const ajv = new Ajv2020({ allErrors: true, strict: false, logger: false });
addFormats.default(ajv);
for (const [name, document] of Object.entries(DOCUMENTS)) {
  ajv.addSchema({ $id: `https://${name}.invalid/api.json`, ...document });
}

const compiled = new Map<string, ValidateFunction>();

/** Returns what a value does not share with the document; empty if it is as published. */
export function findDeviations(
  api: keyof typeof DOCUMENTS,
  path: string,
  side: 'request' | 'response',
  value: unknown,
): string[] {
  const place = encodeURIComponent(path.replaceAll('/', '~1'));
  const reference = `https://${api}.invalid/api.json#/operations/${place}/${side}`;
  const validate = compiled.get(reference) ?? ajv.compile({ $ref: reference });
  compiled.set(reference, validate);
  return validate(value)
    ? []
    : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}
