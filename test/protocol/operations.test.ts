import { describe, expect, it } from 'vitest';
import { JOB_KIND_NAMES } from '../../src/protocol/kind-names.ts';
import { KINDS } from '../../src/protocol/kinds.ts';
import {
  kindOfPath,
  OPERATIONS,
  type OperationName,
  operationName,
  UNDECLARED_STATUSES,
} from '../../src/protocol/operations.ts';
import { OPERATIONS as SPECIFIED } from '../conformance/operations.ts';

describe('the operations', () => {
  it('are the 26 of the specification, with their paths and statuses', () => {
    const rows = (table: typeof SPECIFIED | typeof OPERATIONS) =>
      table.map(({ method, path, success, errors }) => ({ method, path, success, errors }));
    expect(rows(OPERATIONS)).toEqual(rows(SPECIFIED));
    expect(OPERATIONS.map(({ operationId }) => operationId)).toEqual(SPECIFIED.map(({ id }) => id));
  });

  it('have names of their own, and no others compile', () => {
    const collections = Object.fromEntries(
      JOB_KIND_NAMES.map((kind) => [KINDS[kind].path, KINDS[kind].idParameter]),
    );
    const names = OPERATIONS.map(operationName);
    expect(new Set(names).size).toBe(26);
    for (const [path, id] of Object.entries(collections)) {
      const ofKind = [`POST /${path}`, `GET /${path}`, `GET /${path}/{${id}}`, `DELETE /${path}/{${id}}`];
      expect(names).toEqual(expect.arrayContaining(ofKind));
    }
    const right: OperationName[] = ['GET /credits', 'POST /dubbings', 'DELETE /dubbings/{dubbing_id}'];
    expect(names).toEqual(expect.arrayContaining(right));
    // @ts-expect-error no such path
    expect(names).not.toContain('POST /dubbing' satisfies OperationName);
    // @ts-expect-error the parameter of another kind
    expect(names).not.toContain('GET /dubbings/{audio_separation_id}' satisfies OperationName);
  });

  it('name the kind and the action that handle them', () => {
    const handled = OPERATIONS.map(({ operationId, action, kind }) => [operationId, action, kind]);
    expect(handled).toContainEqual(['createUpload', 'createUpload', null]);
    expect(handled).toContainEqual(['listDubbings', 'listJobs', 'dubbing']);
    const actions = ['createJob', 'listJobs', 'getJob', 'cancelJob'];
    for (const kind of JOB_KIND_NAMES) {
      const ofKind = OPERATIONS.filter((operation) => operation.kind === kind);
      expect(ofKind.map(({ action }) => action)).toEqual(actions);
    }
    const others = OPERATIONS.filter(({ kind }) => kind === null);
    expect(others.map(({ action }) => action)).toEqual(others.map(({ operationId }) => operationId));
  });

  it('return undeclared statuses in three cases only, each with its reason', () => {
    expect(Object.keys(UNDECLARED_STATUSES)).toEqual(['400', '405', '415']);
  });
});

describe('a path', () => {
  it.each([
    ['audio-separations', 'audio_separation'],
    ['subtitle-recognitions', 'subtitle_recognition'],
    ['subtitle-translations', 'subtitle_translation'],
    ['dubbings', 'dubbing'],
    ['auto-localizations', 'auto_localization'],
    ['uploads', null],
    ['dubbing', null],
    ['', null],
    ['toString', null],
  ])('of %j belongs to %s', (segment, kind) => {
    expect(kindOfPath(segment)).toBe(kind);
  });
});
