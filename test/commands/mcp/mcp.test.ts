/** `vloc mcp` as an agent uses it, through the client of the protocol's authors; `test/e2e` has it as a process. */
import { existsSync } from 'node:fs';
import { access, copyFile, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../../src/commands/tree.ts';
import { untilJob } from '../../service/harness/scene.ts';
import { createSmallEngines } from '../../service/harness/small-engines.ts';
import { startMain } from '../../support/run-main.ts';
import { connectAgent } from '../support/agent.ts';
import { QUICK, startVloc, type VlocScene } from '../support/run-vloc.ts';

interface Answer {
  readonly exit_code: number;
  readonly output: { readonly data: readonly Record<string, unknown>[] } & Record<string, unknown>;
  readonly notes: readonly string[];
  readonly error: { readonly code: string; readonly message: string; readonly advice: string } | null;
  readonly session: { readonly spent_credits: number; readonly left_credits: number | null };
}

async function makeFolders(vloc: VlocScene): Promise<void> {
  await mkdir(join(vloc.folder, 'in'));
  await mkdir(join(vloc.folder, 'out'));
}

/** A server for the folders `in` and `out`, and an agent that is connected to it. */
function connect(vloc: VlocScene, ...flags: string[]) {
  return connectTo(vloc, ['in', 'out'], ...flags);
}

/** @param folders the readable and the writable one */
async function connectTo(vloc: VlocScene, [read, write]: readonly [string, string], ...flags: string[]) {
  const client = await connectAgent(vloc, ['--read', read, '--write', write, ...flags]);
  const call = async (name: string, given: Record<string, unknown>, options = {}): Promise<Answer> => {
    const { structuredContent, content } = await client.callTool({ name, arguments: given }, options);
    expect(structuredContent, JSON.stringify(content)).toBeDefined();
    return structuredContent as unknown as Answer; // the client has compared it with the schema, unless it is an error
  };
  return { client, call };
}

const inspect = async () => ({
  duration_seconds: 2,
  container: 'mp4' as const,
  video: { codec: 'h264', width: 64, height: 48, frame_rate: 25 },
  audio: { codec: 'aac', sample_rate: 48_000, channels: 1 },
});

/** A second of picture and sound. */
const VIDEO = new URL('../../fixtures/version-0.1/videos/talk.mp4', import.meta.url);

/** Each file has a text of its own: the same one would be remembered. */
const writeSubtitles = (vloc: VlocScene, name: string) =>
  writeFile(join(vloc.folder, name), `1\n00:00:00,000 --> 00:00:01,000\nhello ${name}\n`);

test('tools are the marked commands; those that cost money say so, and offer no way around the folders', async () => {
  const vloc = await startVloc();
  await makeFolders(vloc);
  const { client } = await connect(vloc);
  const { tools } = await client.listTools();
  const marked = COMMANDS.filter(({ leaf }) => leaf.tool !== undefined);
  const names = tools.map(({ name }) => name);
  expect(names).toEqual(marked.map(({ words }) => words.join('_')));
  const jobs = ['jobs_list', 'jobs_get', 'jobs_wait', 'jobs_download', 'jobs_cancel'];
  expect(names).toEqual(expect.arrayContaining([...jobs, 'batch_status', 'batch_report', 'credits']));
  const paying = tools.filter(({ description }) => description?.includes('COSTS CREDITS') === true);
  expect(paying.map(({ name }) => name)).toEqual(['localize', 'separate', 'recognize', 'translate', 'dub']);
  for (const { annotations } of paying) expect(annotations).toMatchObject({ destructiveHint: true });
  const credits = tools.find(({ name }) => name === 'credits');
  expect(credits?.annotations).toMatchObject({ readOnlyHint: true });
  const status = tools.find(({ name }) => name === 'batch_status');
  expect(status?.annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false });
  // Agents pay for each character in every conversation.
  expect(JSON.stringify(tools).length).toBeLessThan(42_000);
  const localize = tools.find(({ name }) => name === 'localize')?.inputSchema;
  expect(localize?.properties?.audio_track).toMatchObject({ type: 'integer', minimum: 1 });
  expect(JSON.stringify(localize)).not.toMatch(/--[a-z]|separated by commas|repeatable/);
  expect(localize?.required).toEqual(['inputs', 'to']);
  const offered = Object.keys(localize?.properties ?? {});
  expect(offered).toEqual(expect.arrayContaining(['out', 'dry_run', 'detach', 'max_credits']));
  for (const name of ['watch', 'files_from', 'sheet', 'body', 'set', 'fresh']) {
    expect(offered).not.toContain(name);
  }
});

const TRANSLATE = { from: 'en', to: ['es'] };

test('inputs are translated with progress by the defaults of vloc.config.json, and the result is structured', async () => {
  const vloc = await startVloc();
  await makeFolders(vloc);
  await writeSubtitles(vloc, 'in/talk.srt');
  const defaults = { from: 'en', to: ['es'], name: '{lang}/{stem}{ext}' };
  await writeFile(join(vloc.folder, 'vloc.config.json'), JSON.stringify({ defaults }));
  const { call } = await connect(vloc);
  const steps: { progress: number; message?: string }[] = [];
  const onprogress = (step: { progress: number }) => steps.push(step);
  const answer = await call('translate', { inputs: ['.'] }, { onprogress });
  expect(answer).toMatchObject({ exit_code: 0, error: null, session: { left_credits: null } });
  expect(answer.output.data).toMatchObject([{ status: 'succeeded', target_language: 'es' }]);
  await access(join(vloc.folder, 'out/es/talk.srt'));
  const figures = steps.map(({ progress }) => progress);
  expect(figures.length).toBeGreaterThan(0);
  expect(figures).toEqual([...new Set(figures)].sort((left, right) => left - right));
});

test('results are links to files in folders that are called like patterns, and an unfinished batch is no error', async () => {
  const vloc = await startVloc();
  const [read, write] = ['week (1) [x]!', 'out {y}'] as const;
  for (const name of [read, write]) await mkdir(join(vloc.folder, name));
  await writeSubtitles(vloc, `${read}/a.srt`);
  await writeFile(join(vloc.folder, read, 'bad.srt'), 'nothing');
  const { client, call } = await connectTo(vloc, [read, write]);
  const given = { inputs: ['*.srt'], ...TRANSLATE };
  const { content } = await client.callTool({ name: 'translate', arguments: given });
  const uri = pathToFileURL(join(vloc.folder, write, 'a.es.srt')).href;
  expect(content).toContainEqual({ type: 'resource_link', uri, name: 'a.es.srt' });
  const answer = await client.callTool({ name: 'batch_status', arguments: { dirs: ['.'] } });
  expect(answer.isError).toBe(false);
  expect(answer.structuredContent).toMatchObject({
    exit_code: 3,
    error: null,
    notes: expect.arrayContaining(['1 of 2 items failed']),
  });
  const { error } = await call('translate', { ...given, clobber: true, skip_existing: true });
  expect(error?.message).toBe('`clobber` replaces files that exist, and `skip_existing` keeps them');
});

test('a localization stops for a review in a writable folder, and no path leads outside', async () => {
  const vloc = await startVloc({ engines: { ...createSmallEngines(), inspect } });
  await makeFolders(vloc);
  for (const folder of ['in', 'out']) await copyFile(VIDEO, join(vloc.folder, folder, 'talk.mp4'));
  const { call } = await connect(vloc);
  const gate = { to: ['es'], from: 'en', stop_after: 'translate' };
  const refused = await call('localize', { ...gate, inputs: ['talk.mp4'] });
  expect(refused.error).toMatchObject({
    code: 'OUTSIDE_FOLDERS',
    advice: expect.stringContaining('`subtitle`'),
  });
  const video = join(vloc.folder, 'out/talk.mp4');
  const stopped = await call('localize', { ...gate, inputs: [video] });
  expect(stopped).toMatchObject({ exit_code: 0, error: null });
  await access(join(vloc.folder, 'out/talk.es.srt'));
  for (const more of [{ inputs: [video], subtitle: '../secret.srt' }, { inputs: ['../*.mp4'] }]) {
    const { error } = await call('localize', { to: ['es'], ...more });
    expect(error).toMatchObject({ code: 'OUTSIDE_FOLDERS' });
  }
  expect((await call('batch_status', { dirs: ['../in'] })).error).toMatchObject({ code: 'OUTSIDE_FOLDERS' });
  await rm(join(vloc.folder, 'out/.vloc'), { recursive: true });
  await symlink('../in', join(vloc.folder, 'out/.vloc'));
  const linked = await call('localize', { to: ['es'], inputs: [video], dry_run: true });
  expect(linked.error).toMatchObject({ code: 'OUTSIDE_FOLDERS' });
});

test('the limit of the session applies to all calls, whatever the agent asks for', async () => {
  const vloc = await startVloc();
  await makeFolders(vloc);
  for (const name of ['a', 'b', 'c']) await writeSubtitles(vloc, `in/${name}.srt`);
  const free = await connect(vloc);
  const first = await free.call('translate', { inputs: ['a.srt'], ...TRANSLATE });
  const price = first.session.spent_credits;
  expect(price).toBeGreaterThan(0);
  const { call } = await connect(vloc, '--max-credits', String(price));
  const known = await call('translate', { inputs: ['a.srt'], ...TRANSLATE });
  expect(known.session).toEqual({ spent_credits: 0, left_credits: price });
  const answers = await Promise.all([
    call('translate', { inputs: ['b.srt'], ...TRANSLATE }),
    call('translate', { inputs: ['c.srt'], ...TRANSLATE, max_credits: 1_000_000 }),
  ]);
  const [paid, refused] = answers.sort((left, right) => left.exit_code - right.exit_code);
  expect(paid).toMatchObject({ exit_code: 0, session: { spent_credits: price, left_credits: 0 } });
  expect(refused).toMatchObject({ exit_code: 6, session: { spent_credits: price, left_credits: 0 } });
  expect(refused?.error?.advice).toContain('only they can start it with a higher limit');
  const { json } = await vloc.caller.get('/v1/subtitle-translations');
  expect(json.data).toHaveLength(2);
});

test('nothing is sent while the price of a kind is unknown; its first charge determines it', async () => {
  const vloc = await startVloc();
  await makeFolders(vloc);
  await writeSubtitles(vloc, 'in/a.srt');
  await writeFile(join(vloc.folder, 'vloc.config.json'), '{ "defaults": { "max_credits": 5 } }');
  const { call } = await connect(vloc);
  const given = { inputs: ['a.srt'], ...TRANSLATE };
  const refused = await call('translate', given);
  expect(refused).toMatchObject({ exit_code: 6, session: { spent_credits: 0, left_credits: 5 } });
  expect(refused.error).toMatchObject({ code: 'PRICE_UNKNOWN' });
  expect(refused.error?.advice).toContain('Ask the user to run `vloc translate` once');
  const list = () => vloc.caller.get('/v1/subtitle-translations').then(({ json }) => json.data);
  expect(await list()).toEqual([]);
  const poor = await vloc.service.issueKey({ monthlyLimitCredits: 5 });
  const poorEnv = { ...vloc.env, VLOC_KEY: poor.key, VLOC_SECRET: poor.secret };
  const bound = await connect({ ...vloc, env: poorEnv });
  expect(await bound.call('translate', given)).toMatchObject({ exit_code: 0, session: { spent_credits: 1 } });
  expect((await vloc.run(['translate', 'in/a.srt', '--from', 'en', '--to', 'fr'])).code).toBe(0);
  expect(await call('translate', { ...given, out: 'own' })).toMatchObject({
    exit_code: 0,
    session: { spent_credits: 1 },
  });
  expect(await list()).toHaveLength(2);
});

test('a cancelled call ends; its job continues, and the same call gets the result without another job', async () => {
  const small = createSmallEngines();
  const vloc = await startVloc({ engines: small });
  await makeFolders(vloc);
  await writeSubtitles(vloc, 'in/talk.srt');
  small.hold();
  const { call } = await connect(vloc);
  const cancel = new AbortController();
  const begun = Promise.withResolvers<void>();
  const onprogress = ({ message = '' }: { message?: string }) => {
    // The small engines report a quarter, then they wait.
    if (message.includes('25 %')) begun.resolve();
  };
  const given = { inputs: ['talk.srt'], ...TRANSLATE };
  const running = call('translate', given, { signal: cancel.signal, onprogress });
  await begun.promise;
  cancel.abort();
  await expect(running).rejects.toThrow();
  const { json } = await vloc.caller.get('/v1/subtitle-translations');
  const [{ id }] = json.data;
  const status = await call('batch_status', { dirs: ['.'] });
  expect(status.output).toMatchObject({ counts: { done: 0 } });
  expect(JSON.stringify(status.output)).toContain(id);
  small.letGo();
  await untilJob(vloc.caller, json.data[0], 'succeeded');
  const answer = await call('translate', given);
  expect(answer.output.data).toMatchObject([{ id, status: 'succeeded' }]);
  await access(join(vloc.folder, 'out/talk.es.srt'));
  expect((await vloc.caller.get('/v1/subtitle-translations')).json.data).toHaveLength(1);
});

test('malformed arguments and unknown tools are refused, and the server continues', async () => {
  const vloc = await startVloc();
  await makeFolders(vloc);
  const { client, call } = await connect(vloc);
  for (const given of [
    {},
    { inputs: 'a', to: ['es'] },
    { inputs: ['a'], to: ['es'], body: '@/etc/passwd' },
    // An empty path would be the first allowed folder.
    { inputs: [''], to: ['es'] },
    { inputs: ['a'], to: ['es'], out: '' },
    { inputs: ['a'], to: ['es'], subtitle: '' },
  ]) {
    const { isError, content } = await client.callTool({ name: 'localize', arguments: given });
    expect([isError, JSON.stringify(content)]).toEqual([true, expect.stringContaining('localize')]);
  }
  await expect(client.callTool({ name: 'serve', arguments: {} })).rejects.toThrow('serve');
  const { output } = await call('credits', {});
  expect(output).toMatchObject({ object: 'credit_balance' });
  expect((await call('jobs_get', { ids: ['dub_unknown'] })).error).toMatchObject({
    code: 'RESOURCE_NOT_FOUND',
  });
});

test('stdout contains only the protocol, no secret is printed, and the end of stdin ends it', async () => {
  const vloc = await startVloc();
  await makeFolders(vloc);
  await writeSubtitles(vloc, 'in/a.srt');
  const stdin = new PassThrough();
  const words = ['mcp', '--write', 'out', '--read', 'in'];
  const { ended } = startMain(words, { cwd: vloc.folder, env: vloc.env, pace: QUICK, stdin });
  const send = (message: object) => stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'raw', version: '1' };
  send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
  });
  send({ method: 'notifications/initialized' });
  stdin.write('this is no message\n');
  const given = { inputs: ['a.srt'], from: 'en', to: ['es'] };
  send({ id: 2, method: 'tools/call', params: { name: 'translate', arguments: given } });
  await expect.poll(() => existsSync(join(vloc.folder, 'out/a.es.srt'))).toBe(true);
  stdin.end();
  const { code, stdout, stderr } = await ended;
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true);
  expect(code).toBe(0);
  expect(stdout + stderr).not.toContain(vloc.credentials.secret);
});

test.each([
  [['mcp'], '--write'],
  [['mcp', '--write', 'missing'], 'missing'],
  [['mcp', '--write', '.', '--max-credits', '-1'], 'invalid --max-credits "-1": expected a number from 0'],
])('%j is refused before it serves', async (words, why) => {
  const vloc = await startVloc();
  const { code, stderr } = await vloc.run(words);
  expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
});
