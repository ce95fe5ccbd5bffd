/** The JSON Schema for editors accepts what vloc accepts. */

import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { checkEngines, fieldsOf, typesOf } from '../../src/engines/config-check.ts';
import { ENGINE_STEPS } from '../../src/protocol/provenance.ts';

const schema = JSON.parse(await readFile(new URL('../../docs/engines.schema.json', import.meta.url), 'utf8'));
const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(schema);

/** Whether vloc accepts a file. */
function isAccepted(file: unknown): boolean {
  try {
    checkEngines(file, 'engines.json');
    return true;
  } catch {
    return false;
  }
}

const SERVER = { type: 'openai', url: 'http://127.0.0.1:8000/v1', model: 'm' };

describe('the description of engines.json for editors', () => {
  it.each<readonly [object, boolean]>([
    [{}, true],
    [{ $schema: 'file:///engines.schema.json', translate: ['apertium'] }, true],
    [{ recognize: [{ ...SERVER, key: { env: 'KEY' }, languages: ['en'] }, 'pocketsphinx'] }, true],
    [{ recognize: [{ ...SERVER, key: { command: ['pass', 'asr'] }, insecure: true }] }, true],
    [
      {
        translate: [
          { ...SERVER, context: 3 },
          { type: 'libretranslate', url: 'http://127.0.0.1:5000' },
        ],
      },
      true,
    ],
    [{ speak: [{ ...SERVER, voices: { es: { female: 'a', male: 'b' }, fr: 'c' } }] }, true],
    [{ speak: [{ type: 'sherpa', folder: '~/piper', threads: 2, fallback: false, concurrency: 1 }] }, true],
    [{ separate: [{ type: 'command', run: ['x'], vocals: 'a', background: 'b', timeout: 60 }] }, true],
    [{ translate: [] }, false],
    [{ translate: ['pocketsphinx'] }, false],
    [{ translate: [{ type: 'sherpa', folder: 'x' }] }, false],
    [{ recognize: [{ ...SERVER, key: 'canary' }] }, false],
    [{ recognize: [{ ...SERVER, context: 3 }] }, false],
    [{ recognize: [{ ...SERVER, concurrency: 65 }] }, false],
    [{ recognize: [{ type: 'openai', url: 'http://127.0.0.1' }] }, false],
    [{ dub: [] }, false],
  ])('%j: %s', (file, expected) => {
    expect([isAccepted(file), validate(file)]).toEqual([expected, expected]);
  });

  it('explains every field', () => {
    for (const step of ENGINE_STEPS) {
      const { description, items } = schema.properties[step];
      expect(description).toContain('the preferred one first');
      const [, { oneOf: entries }] = items.anyOf;
      expect(entries).toHaveLength(typesOf(step).length);
      for (const { properties } of entries) {
        const fields = Object.keys(fieldsOf(step, properties.type.const));
        // Users do not write `managed`, but `vloc models` does.
        expect(Object.keys(properties).filter((field) => field !== 'managed')).toEqual(fields);
        const silent = fields.filter((field) => properties[field].description === undefined);
        expect(silent).toEqual([]);
      }
    }
  });
});
