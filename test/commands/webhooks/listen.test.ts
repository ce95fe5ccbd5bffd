import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { EVENT_ID, eventBody, sign } from '../../client/webhooks/sign.ts';
import { startScene, until } from '../../service/harness/scene.ts';
import { startPlain } from '../../service/outgoing/outside.ts';
import { createJob } from '../../service/outgoing/webhooks/receiver.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { runMain } from '../../support/run-main.ts';
import { AT, SECRET, send, startListening } from '../support/listening.ts';
import { linesOf } from '../support/run-vloc.ts';

describe('vloc webhooks listen', () => {
  it('verifies deliveries of a real service, and ends when its job has ended', async () => {
    const scene = await startScene({ allowLoopback: true });
    scene.engines.hold();
    // The address must be known before there is a job to wait for: a reverse proxy in front has it.
    const behind = Promise.withResolvers<string>();
    const proxy = await startPlain(async (incoming, response) => {
      const headers = { ...(incoming.headers as Record<string, string>) }; // none of these is repeated
      const { status: answered } = await send(await behind.promise, await text(incoming), headers);
      response.writeHead(answered).end();
    });
    const job = await createJob(scene, `${proxy.origin}/?token=1`);
    const env = { VLOC_WEBHOOK_SECRET: (await scene.service.keys())[0]?.webhookSecret ?? '' };
    const words = ['-o', 'ndjson', '--until', job.detail_url];
    const { url, ended, stdout } = await startListening(words, { env, now: scene.clock.now });
    behind.resolve(url);
    scene.engines.letGo();
    expect(await ended).toBe(0);
    expect(linesOf(stdout())[1]).toMatchObject({
      type: 'event',
      event_type: 'subtitle_translation.succeeded',
      job: { id: job.id, kind: 'subtitle_translation', status: 'succeeded', client_reference: 'lesson 1' },
      form: 'newline',
    });
  });

  it('ends with 0 on Ctrl-C, but not while it waits for a job', async () => {
    const listening = await startListening([]);
    listening.send('SIGINT');
    expect(await listening.ended).toBe(0);
    const waiting = await startListening(['--until', 'dub_1']);
    waiting.send('SIGINT');
    expect(await waiting.ended).toBe(130);
  });

  it('prints each new event once, in the forms for programs', async () => {
    const shown: Record<string, string> = {};
    for (const form of ['ndjson', 'plain', 'id']) {
      const { deliver, ended, send: signal, stdout } = await startListening(['-o', form]);
      expect(await deliver(eventBody('dub_1'))).toEqual({ status: 200, text: 'received\n' });
      expect((await deliver(eventBody('dub_1'))).status).toBe(200);
      signal('SIGTERM');
      expect(await ended).toBe(0);
      shown[form] = stdout();
    }
    expect(shown.id).toBe('dub_1\n');
    expect(shown.plain).toBe('dubbing.succeeded dub_1\n');
    const lines = linesOf(shown.ndjson ?? '');
    expect(lines.map(({ type }) => type)).toEqual(['listening', 'event', 'duplicate', 'summary']);
    expect(lines[3]).toMatchObject({ events: 1, duplicates: 1, refused: 0 });
  });

  it('keeps outside text from acting on the terminal', async () => {
    const { deliver, stdout } = await startListening([]);
    await deliver(
      JSON.stringify({ type: 'x\u001b[2J', data: { id: 'a\nb\u202e', client_reference: '\u009b' } }),
    );
    const shownText = await until(stdout, (shown) => shown.includes('\n'));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: looking for them is the point
    expect(shownText).not.toMatch(/[\u001b\u009b\u202e]/);
    expect(shownText.trimEnd().split('\n')).toHaveLength(2);
  });

  it('answers forged deliveries with 401 or 400 and says why', async () => {
    const { deliver, url, stderr, stdout } = await startListening(['-o', 'ndjson']);
    expect((await deliver('{}', { secret: 'other' })).status).toBe(401);
    expect((await deliver('{}', { at: AT - 301 })).status).toBe(401);
    expect((await send(url, '{}')).status).toBe(400);
    const { body, headers } = sign('{}', { secret: SECRET, at: AT });
    const twice = { ...headers, 'X-Service-Webhook-Id': [EVENT_ID, EVENT_ID] };
    expect((await send(url, body, twice)).text).toContain('more than once');
    expect(stderr()).toContain('301 s old, 1 s too old');
    expect(linesOf(stdout()).map(({ type, check }) => [type, check])).toEqual([
      ['listening', undefined],
      ['refused', 'signature'],
      ['refused', 'timestamp'],
      ['refused', 'form'],
      ['refused', 'form'],
    ]);
    expect(stdout() + stderr()).not.toContain(SECRET);
  });
});

describe('--until', () => {
  it.each([
    ['succeeded', 0],
    ['failed', 5],
    ['cancelled', 5],
  ])('ends when the job has %s, with exit code %i', async (status, code) => {
    const { deliver, ended, stderr } = await startListening(['--until', 'dubbing/dub_1']);
    await deliver(eventBody('dub_2', 'failed'), { id: `${EVENT_ID}x` });
    expect((await deliver(eventBody('dub_1', status))).status).toBe(200);
    expect(await ended).toBe(code);
    expect(stderr().includes('vloc jobs get dubbing/dub_1')).toBe(code !== 0);
  });

  it('gives up at --timeout with exit code 8, but ends with 0 without --until', async () => {
    const waiting = await startListening(['--until', 'dub_1', '--timeout', '20ms']);
    expect(await waiting.ended).toBe(8);
    // What must be right for the event to arrive, which nobody else says.
    expect(waiting.stderr()).toMatch(/Waiting for dub_1: .*--callback-url.*port \d+, .*webhook secret/);
    expect(waiting.stderr()).toContain('vloc jobs get dub_1');
    expect(waiting.stderr()).not.toContain('goes on');
    expect(await (await startListening(['--timeout', '20ms'])).ended).toBe(0);
  });
});

describe('--forward-to', () => {
  it('forwards genuine events once, and requests another delivery while the receiver fails', async () => {
    const statuses = [500, 307, 204];
    const receiver = await startPlain((_request, response) =>
      response.writeHead(statuses.shift() ?? 204).end(),
    );
    const words = ['-o', 'ndjson', '--forward-to', `${receiver.origin}/hook`, '--until', 'dub_1'];
    const { deliver, ended, stdout } = await startListening(words);
    expect((await deliver(eventBody('dub_1'), { secret: 'other' })).status).toBe(401);
    expect((await deliver(eventBody('dub_1'))).status).toBe(502);
    expect((await deliver(eventBody('dub_1'))).status).toBe(502);
    expect((await deliver(eventBody('dub_1'))).status).toBe(200);
    expect(await ended).toBe(0);
    expect(receiver.requests.map(({ url }) => url)).toEqual(['/hook', '/hook', '/hook']);
    expect(
      linesOf(stdout()).map(({ type, status, forwarded_status: sent }) => [type, status ?? sent]),
    ).toEqual([
      ['listening', undefined],
      ['refused', undefined],
      ['not_forwarded', 500],
      ['not_forwarded', 307],
      ['event', 204],
      ['summary', undefined],
    ]);
  });
});

describe('--exec', () => {
  it('gets the event on stdin and in its environment, and no secret', async () => {
    const folder = makeFolder();
    const env = { VLOC_SECRET: 'api_canary' };
    const command = 'cat > body.json; env > env.txt; echo said';
    const words = ['--exec', command, '--until', 'dub_1', '-o', 'id'];
    const { deliver, ended, stdout, stderr } = await startListening(words, { env, cwd: folder });
    await deliver(eventBody('dub_1'));
    expect(await ended).toBe(0);
    expect(await readFile(join(folder, 'body.json'), 'utf8')).toBe(eventBody('dub_1'));
    const variables = await readFile(join(folder, 'env.txt'), 'utf8');
    expect(variables).toContain(`VLOC_EVENT_ID=${EVENT_ID}\n`);
    expect(variables).toContain('VLOC_EVENT_TYPE=dubbing.succeeded\n');
    expect(variables).toContain('VLOC_EVENT_CLIENT_REFERENCE=léson 1\n');
    expect(variables).not.toContain('canary');
    expect([stdout(), stderr().includes('said\n')]).toEqual(['dub_1\n', true]);
  });

  it('runs once per event, one after the other, and its failure is reported by the exit code', async () => {
    const folder = makeFolder();
    const command = 'echo begin >> log; sleep 0.02; echo end >> log; exit 3';
    const words = ['--exec', command, '--until', 'dub_2'];
    const { deliver, ended, stderr } = await startListening(words, { cwd: folder });
    await deliver(eventBody('dub_1'));
    await deliver(eventBody('dub_1'));
    await deliver(eventBody('dub_2'), { id: `${EVENT_ID}x` });
    expect(await ended).toBe(3);
    expect(stderr()).toContain(`The command for ${EVENT_ID} failed: it ended with exit code 3`);
    expect(await readFile(join(folder, 'log'), 'utf8')).toBe('begin\nend\nbegin\nend\n');
  });

  it('does not delay the answer, and ends with vloc', async () => {
    const { deliver, ended, send: signal } = await startListening(['--exec', 'sleep 60 | cat']);
    expect((await deliver(eventBody('dub_1'))).status).toBe(200);
    signal('SIGINT');
    expect(await ended).toBe(0);
  });
});

it('a port in use is an error before anything listens', async () => {
  const taken = await startPlain(() => {});
  const words = ['webhooks', 'listen', '--port', String(taken.port)];
  const { code, stderr } = await runMain(words, { env: { VLOC_WEBHOOK_SECRET: SECRET } });
  expect([code, stderr]).toEqual([4, expect.stringContaining('choose another --port')]);
});

it('the secret is read from stdin without the line break of echo, and the output says so', async () => {
  const env = { VLOC_WEBHOOK_SECRET: 'not this one' };
  const { deliver, stderr } = await startListening(['--secret-stdin'], { env, stdin: `${SECRET}\n` });
  expect((await deliver(eventBody('dub_1'))).status).toBe(200);
  expect(stderr()).toContain('line break');
});
