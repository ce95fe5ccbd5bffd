import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { KINDS } from '../../../src/protocol/kinds.ts';
import { createOpenApiDocument } from '../../../src/protocol/openapi/document.ts';
import { OPERATIONS } from '../../../src/protocol/operations.ts';

// Read as a program elsewhere reads it: as JSON, without our types.
const read = (about?: Parameters<typeof createOpenApiDocument>[0]) =>
  JSON.parse(JSON.stringify(createOpenApiDocument(about)));
const document = read();

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('has the 26 operations with exactly the statuses that they declare', () => {
    const described = Object.entries<Record<string, { operationId: string; responses: object }>>(
      document.paths,
    ).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, responses }]) => ({
        operationId,
        target: `${method.toUpperCase()} ${path}`,
        statuses: Object.keys(responses).map(Number),
      })),
    );
    const byName = (left: { operationId: string }, right: { operationId: string }) =>
      left.operationId < right.operationId ? -1 : 1;
    const declared = OPERATIONS.map(({ operationId, method, path, success, errors }) => ({
      operationId,
      target: `${method} ${path}`,
      statuses: [...success, ...errors].sort((left, right) => left - right),
    }));
    expect(described).toHaveLength(26);
    expect(described.sort(byName)).toEqual(declared.sort(byName));
  });

  it('refers only to its own parts', () => {
    const references = JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g);
    for (const [, path = ''] of references) {
      const found = path.split('/').reduce((value, key) => value?.[key], document);
      expect(found, path).toBeDefined();
    }
  });

  it('requires all four signature headers together, under the prefix of the service', () => {
    const { security, components } = read({ headerPrefix: 'X-Vendor' });
    expect(security).toEqual([{ key: [], timestamp: [], nonce: [], signature: [] }]);
    const names = Object.values<{ name: string }>(components.securitySchemes).map(({ name }) => name);
    expect(names).toEqual(['X-Vendor-Key', 'X-Vendor-Timestamp', 'X-Vendor-Nonce', 'X-Vendor-Signature']);
  });

  it('requires an Idempotency-Key on every POST and DELETE, and only there', () => {
    for (const { path, method } of OPERATIONS) {
      const { parameters } = document.paths[path][method.toLowerCase()];
      const asked = parameters.some((each: { $ref?: string }) => each.$ref?.endsWith('/IdempotencyKey'));
      expect(asked, `${method} ${path}`).toBe(method !== 'GET');
    }
  });
});

describe('request schemas', () => {
  const { schemas } = document.components;

  it('have the limits that are checked in code', () => {
    expect(schemas.DubbingRequest.properties.client_reference).toMatchObject({
      minLength: 1,
      maxLength: 128,
    });
    expect(schemas.UploadRequest.properties.file_name.maxLength).toBe(255);
    const [, , lines] = schemas.DubbingRequest.properties.subtitle.oneOf;
    expect(lines.properties.lines).toMatchObject({ minItems: 1, maxItems: 10_000 });
    expect(lines.properties.lines.items.properties.text.maxLength).toBe(5000);
  });

  it('have every field of every kind, with its default', () => {
    for (const { noun, fields } of Object.values(KINDS)) {
      const { properties, required, additionalProperties } = schemas[`${noun}Request`];
      expect(Object.keys(properties)).toEqual([...Object.keys(fields), 'client_reference', 'callback_url']);
      expect(additionalProperties).toBe(false);
      for (const [name, field] of Object.entries(fields)) {
        expect(required.includes(name)).toBe(field.required);
        expect(properties[name].default).toBe('default' in field ? field.default : undefined);
      }
    }
  });

  it('accept only https addresses without control characters', () => {
    const { pattern } = schemas.DubbingRequest.properties.callback_url;
    const admits = (text: string) => new RegExp(pattern, 'u').test(text);
    expect(admits('https://example.com/a')).toBe(true);
    expect(admits('http://example.com/a')).toBe(false);
    expect(admits('https://example.com/\na')).toBe(false);
  });
});

it('describes every group of operations', () => {
  const tags: readonly { readonly name: string; readonly description: string }[] = document.tags;
  const used = Object.values<Record<string, { tags: string[] }>>(document.paths).flatMap((path) =>
    Object.values(path).flatMap((operation) => operation.tags),
  );
  expect(new Set(used)).toEqual(new Set(tags.map(({ name }) => name)));
  const dubbing = tags.find(({ name }) => name === 'dubbings');
  expect(dubbing?.description).toBe('Jobs that make a spoken sound track from subtitles, at their times.');
  for (const { description } of tags) expect(description).toMatch(/^[A-Z].+[a-z]\.$/);
});
