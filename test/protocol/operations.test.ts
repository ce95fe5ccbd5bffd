import { describe, expect, it } from 'vitest';
import { JOB_KIND_NAMES } from '../../src/protocol/kind-names.ts';
import { KINDS } from '../../src/protocol/kinds.ts';
import {
  kindOfPath,
  OPERATIONS,
  type OperationName,
  operationName,
  UNDECLARED_STATUSES,
  VERSION_PREFIX,
} from '../../src/protocol/operations.ts';

/** The operation table of the specification, copied row by row: id, method and path, success, declared errors. */
const TABLE = `
getCredits | GET /credits | 200 | 400, 401, 403, 429, 503
listCreditTransactions | GET /credit-transactions | 200 | 400, 401, 403, 429, 503
createUpload | POST /uploads | 201 | 400, 401, 403, 409, 413, 429, 500, 503
listUploads | GET /uploads | 200 | 400, 401, 403, 429, 503
getUpload | GET /uploads/{upload_id} | 200 | 401, 403, 404, 429, 500, 503
completeUpload | POST /uploads/{upload_id}/completions | 200, 202 | 400, 401, 403, 404, 409, 413, 422, 429, 500, 503
createAudioSeparation | POST /audio-separations | 202 | 400, 401, 402, 403, 409, 413, 422, 429, 500, 503
listAudioSeparations | GET /audio-separations | 200 | 400, 401, 403, 429, 503
getAudioSeparation | GET /audio-separations/{audio_separation_id} | 200 | 401, 403, 404, 429, 500, 503
cancelAudioSeparation | DELETE /audio-separations/{audio_separation_id} | 202 | 401, 403, 404, 409, 429, 500, 503
createSubtitleRecognition | POST /subtitle-recognitions | 202 | 400, 401, 402, 403, 409, 413, 422, 429, 500, 503
listSubtitleRecognitions | GET /subtitle-recognitions | 200 | 400, 401, 403, 429, 503
getSubtitleRecognition | GET /subtitle-recognitions/{subtitle_recognition_id} | 200 | 401, 403, 404, 429, 500, 503
cancelSubtitleRecognition | DELETE /subtitle-recognitions/{subtitle_recognition_id} | 202 | 401, 403, 404, 409, 429, 500, 503
createSubtitleTranslation | POST /subtitle-translations | 202 | 400, 401, 402, 403, 409, 413, 422, 429, 500, 503
listSubtitleTranslations | GET /subtitle-translations | 200 | 400, 401, 403, 429, 503
getSubtitleTranslation | GET /subtitle-translations/{subtitle_translation_id} | 200 | 401, 403, 404, 429, 500, 503
cancelSubtitleTranslation | DELETE /subtitle-translations/{subtitle_translation_id} | 202 | 401, 403, 404, 409, 429, 500, 503
createDubbing | POST /dubbings | 202 | 400, 401, 402, 403, 409, 413, 422, 429, 500, 503
listDubbings | GET /dubbings | 200 | 400, 401, 403, 429, 503
getDubbing | GET /dubbings/{dubbing_id} | 200 | 401, 403, 404, 429, 500, 503
cancelDubbing | DELETE /dubbings/{dubbing_id} | 202 | 401, 403, 404, 409, 429, 500, 503
createAutoLocalization | POST /auto-localizations | 202 | 400, 401, 402, 403, 409, 413, 422, 429, 500, 503
listAutoLocalizations | GET /auto-localizations | 200 | 400, 401, 403, 429, 503
getAutoLocalization | GET /auto-localizations/{auto_localization_id} | 200 | 401, 403, 404, 429, 500, 503
cancelAutoLocalization | DELETE /auto-localizations/{auto_localization_id} | 202 | 401, 403, 404, 409, 429, 500, 503
`;

describe('the operations', () => {
  it('are the 26 of the specification, with their paths and statuses', () => {
    const rows = OPERATIONS.map(({ operationId, method, path, success, errors }) =>
      [operationId, `${method} ${path}`, success.join(', '), errors.join(', ')].join(' | '),
    );
    expect(rows).toHaveLength(26);
    expect(rows).toEqual(TABLE.trim().split('\n'));
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

  it('are below the version', () => {
    expect(VERSION_PREFIX).toBe('/v1');
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
