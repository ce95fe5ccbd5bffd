/** The paths and methods that exist, and those that must not exist. */
import assert from 'node:assert/strict';
import { expectProblem, expectStatus, headerOf } from '../expect/answer.ts';
import { OPERATIONS, pathOf } from '../operations.ts';
import { goodSubtitleFile } from '../prepare/subtitles.ts';
import { reservationOf } from '../prepare/uploads.ts';
import { type Rule, section } from '../rule.ts';

const rule = section('surface');

/** Likely names of internal resources. */
const INTERNAL = [
  'projects',
  'episodes',
  'sub-episodes',
  'tasks',
  'voices',
  'exports',
  'video-exports',
  'keys',
];

/** Returns the allowed methods of each path. */
function methodsByPath(): Map<string, string[]> {
  const methods = new Map<string, string[]>();
  for (const operation of OPERATIONS) {
    const path = pathOf(operation);
    methods.set(path, [...(methods.get(path) ?? []), operation.method]);
  }
  return methods;
}

export const SURFACE_RULES: readonly Rule[] = [
  rule('spec', 'internal', {
    title: 'internal projects, episodes, tasks, voices and exports are not exposed',
    covers: ['service.only-business'],
    async check(service) {
      expectStatus(await service.caller.get('/credits'), 200);
      for (const name of INTERNAL) {
        expectProblem(service, await service.caller.get(`/${name}`), 404, 'RESOURCE_NOT_FOUND');
      }
    },
  }),
  rule('contract', 'unknown-path', {
    title: 'a path that is not in the operation table answers 404',
    covers: ['error.open-codes', 'version.path'],
    async check(service) {
      const { caller } = service;
      for (const path of ['/', '/uploads/', '/credits/today', '/uploads/a/b', '/Credits']) {
        expectProblem(service, await caller.get(path), 404, 'RESOURCE_NOT_FOUND');
      }
      expectProblem(service, await caller.post('/uploads/a/completion', {}), 404, 'RESOURCE_NOT_FOUND');
    },
  }),
  rule('contract', 'method', {
    title: 'a method that a path does not accept answers 405 and lists the accepted ones in Allow',
    covers: ['error.open-codes'],
    async check(service) {
      for (const [path, methods] of methodsByPath()) {
        for (const method of ['GET', 'POST', 'DELETE', 'PUT']) {
          if (methods.includes(method)) continue;
          const answer = await service.caller.call({ method, path });
          expectProblem(service, answer, 405, 'METHOD_NOT_ALLOWED');
          assert.deepEqual(
            headerOf(answer, 'Allow')
              .split(/\s*,\s*/)
              .toSorted(),
            methods.toSorted(),
            path,
          );
        }
      }
    },
  }),
  rule('spec', 'no-query-on-post', {
    title: 'a query parameter on an otherwise valid POST is refused',
    covers: ['parameter.invalid', 'error.INVALID_REQUEST'],
    async check(service) {
      const parts = { method: 'POST', path: '/uploads', body: reservationOf(goodSubtitleFile(service)) };
      expectStatus(await service.caller.call(parts), 201);
      const answer = await service.caller.call({ ...parts, query: [['dry_run', 'true']] });
      expectProblem(service, answer, 400, 'INVALID_REQUEST');
    },
  }),
];
