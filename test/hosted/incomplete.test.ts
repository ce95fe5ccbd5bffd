/** An answer that lacks what a command needs ends it with the name of the field and the id of the request. */
import { expect, test } from 'vitest';
import { errorOf } from '../support/run-main.ts';
import { openHosted } from './run-hosted.ts';

type Body = Record<string, unknown>;

const DUB = ['dub', 'talk.srt', '--to', 'es'];

/** What is taken from the answers, the command that needs it, the field that is named. */
const CASES: readonly (readonly [string, (body: Body) => Body, readonly string[], string])[] = [
  [
    'an address without a URL',
    (body) => ({ ...body, upload_request: { method: 'PUT' } }),
    ['upload', 'talk.mp4'],
    'upload_request.url',
  ],
  ['a file without an address', (body) => ({ ...body, result: { audio: {} } }), DUB, 'result.audio'],
  ['a balance in words', (body) => ({ ...body, balance_credits: 'many' }), ['credits'], 'balance_credits'],
  ['no data of a list', () => ({ object: 'list' }), ['jobs', 'list', '--kind', 'dubbing'], '`data`'],
  ['a list of numbers', (body) => ({ ...body, data: [1] }), ['credits', 'history'], 'not a JSON object'],
];

test.each(CASES)('%s', async (_name, change, words, named) => {
  const { run, hosted } = await openHosted(['request-id-other'], new Set());
  hosted.change = change;
  const json = await run([...words, '-o', 'json']);
  const error = {
    code: 'ANSWER_INCOMPLETE',
    message: expect.stringContaining(named),
    request_id: 'Req-7F3A-ok',
  };
  expect([json.code, errorOf(json)]).toMatchObject([1, error]);
  const table = await run(words);
  expect(table.code).toBe(1);
  expect(table.stderr).toContain(named);
  expect(table.stderr).toContain('Req-7F3A-ok');
  expect(json.stderr + table.stderr).not.toMatch(/undefined|^\s+at .*:\d+/m);
});

test('an unknown status of an upload is reported, and the command waits for its end', async () => {
  const { run, hosted } = await openHosted(['request-id-other'], new Set());
  let changed = 0;
  hosted.change = (body) => {
    if (changed > 1 || (changed === 0 && body.status !== 'validating')) return body;
    changed += 1;
    return { ...body, status: 'paused' };
  };
  const { code, stderr } = await run(['upload', 'talk.mp4']);
  expect(code, stderr).toBe(0);
  expect(stderr.match(/has the status "paused", which this version does not know/g)).toHaveLength(1);
});

test('a job without lines is reported', async () => {
  const { run, hosted } = await openHosted(['request-id-other'], new Set());
  const made = await run(['recognize', 'talk.mp4', '-o', 'json']);
  const [{ id }] = JSON.parse(made.stdout).data;
  hosted.change = ({ result: _result, ...rest }) => ({ ...rest, result: { lines: 'none' } });
  const ended = await run(['dub', `subtitle-recognitions/${id}`, '--to', 'es', '-o', 'json']);
  const error = { message: expect.stringContaining('lines'), request_id: 'Req-7F3A-ok' };
  expect([ended.code, errorOf(ended)]).toMatchObject([1, error]);
});
