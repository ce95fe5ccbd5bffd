/**
 * Hostile media, and addresses that lead inside, handed to a service that is traced: none is accepted, and none makes it open or call
 * anything.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putObject, until } from '../harness/scene.ts';
import corpus from '../outgoing/ssrf-corpus.json' with { type: 'json' };
import { CAN_TRACE, dialled, HOW, startTraced, type TracedService } from './traced-service.ts';

interface Bait {
  /** Folder with `canary.txt` and `segment.ts`, which nobody may open. */
  readonly folder: string;
  /** Port on this machine that nobody may call. */
  readonly port: number;
}

interface Trap {
  readonly name: string;
  readonly bytes: Buffer;
}

const playlist = (target: string) =>
  `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10.0,\n${target}\n#EXT-X-ENDLIST\n`;

const dash = (port: number) =>
  '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" ' +
  'mediaPresentationDuration="PT2S"><Period><AdaptationSet mimeType="video/mp4"><Representation id="1" ' +
  `bandwidth="1"><BaseURL>http://127.0.0.1:${port}/d.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>`;

const sdp = (port: number) =>
  `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video ${port} RTP/AVP 33\n`;

/** Writes what the traps are to open. */
function layBait(folder: string): void {
  writeFileSync(join(folder, 'canary.txt'), 'CANARY\n');
  const picture = ['-f', 'lavfi', '-i', 'color=c=gray:s=64x48:r=25', '-t', '2', '-c:v', 'mpeg2video'];
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', ...picture, join(folder, 'segment.ts')]);
}

/** The traps, with the name that each would be uploaded under. */
function makeTraps({ folder, port }: Bait): Trap[] {
  const texts: Record<string, string> = {
    'hls-file.mp4': playlist(`file://${folder}/segment.ts`),
    'hls-http.mp4': playlist(`http://127.0.0.1:${port}/a.ts`),
    'hls-concat.avi': playlist(`concat:${folder}/canary.txt|${folder}/segment.ts`),
    'hls-subfile.mov': playlist(`subfile,,start,0,end,100,,:${folder}/canary.txt`),
    'concat-absolute.mp4': `ffconcat version 1.0\nfile '${folder}/segment.ts'\n`,
    'concat-relative.mp4': 'ffconcat version 1.0\nfile segment.ts\n',
    'dash.mp4': dash(port),
    'pls.mpg': `[playlist]\nFile1=file://${folder}/canary.txt\n`,
    'sdp.mpeg': sdp(port),
    'svg.mp4': `<svg xmlns="http://www.w3.org/2000/svg"><image href="${folder}/canary.txt"/></svg>`,
  };
  return Object.entries(texts).map(([name, text]) => ({ name, bytes: Buffer.from(text) }));
}

/** Each address of the corpus as a URL, and each URL unchanged. */
const FORBIDDEN = [
  ...corpus.deny_ip.map((address) => `https://${address.includes(':') ? `[${address}]` : address}/a.mp4`),
  ...corpus.deny_url,
];
/** Where a source that is permitted sends the service on to; by the path that is asked for. */
const REDIRECTS: Record<string, string> = {
  '/private': 'https://10.0.0.1/secret',
  '/metadata': 'http://169.254.169.254/latest/',
  '/mapped': 'https://[::ffff:10.0.0.1]/',
  '/plain': 'http://example.com/a.mp4',
  '/port': 'https://example.com:8443/a.mp4',
  '/login': 'https://user:pw@example.com/a.mp4',
  '/file': 'file:///etc/passwd',
  '/inside': 'https://x.internal/a.mp4',
  '/around': '/around',
};

/** Ten validations, one after the other, in a process that is traced. */
const PATIENCE_MS = 170_000;
/** Before a file's own date, an access is written down again even where most are not (`relatime`). */
const LONG_AGO = new Date(0);

let service: TracedService;
let bait: string;
let traps: Trap[];
/** Paths of what may not be opened: beside the traps that name it, and beside the uploads for the trap that names none. */
let canaries: string[];
let called = 0;
const listening = createServer((_request, response) => {
  called += 1;
  response.end();
});
let origin: string;
const asked: string[] = [];
const outside = createServer((request: IncomingMessage, response: ServerResponse) => {
  asked.push(request.url ?? '');
  response.writeHead(302, { Location: REDIRECTS[request.url ?? ''] ?? '/' }).end();
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port; // a TCP server has one
}

beforeAll(async () => {
  service = await startTraced();
  bait = join(service.folder, 'bait');
  mkdirSync(bait);
  layBait(bait);
  const sibling = join(service.closed.stateDir, 'uploads', 'segment.ts');
  copyFileSync(join(bait, 'segment.ts'), sibling);
  origin = `http://127.0.0.1:${await listen(outside)}`;
  traps = makeTraps({ folder: bait, port: await listen(listening) });
  canaries = [join(bait, 'canary.txt'), join(bait, 'segment.ts'), sibling];
  for (const canary of canaries) utimesSync(canary, LONG_AGO, new Date());
}, PATIENCE_MS);
afterAll(async () => {
  listening.close();
  outside.close();
  await service.remove();
});

/** Uploads a trap under its name and returns the state after validation. */
async function validate({ name, bytes }: Trap): Promise<string> {
  const { caller } = service.closed;
  const reserved = await caller.post('/v1/uploads', {
    purpose: 'source_video',
    file_name: name,
    content_type: 'video/mp4',
    size_bytes: bytes.length,
  });
  const put = await putObject(reserved, bytes);
  await caller.post(`${reserved.json.detail_url}/completions`, { etag: put.headers.etag });
  for (;;) {
    const { json } = await caller.get(reserved.json.detail_url);
    if (json.status !== 'validating') return `${json.status} ${json.error?.code}`;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

test('no trap is accepted', { timeout: PATIENCE_MS }, async () => {
  const states: Record<string, string> = {};
  for (const trap of traps) states[trap.name] = await validate(trap);
  const refused = Object.fromEntries(traps.map(({ name }) => [name, 'failed MEDIA_VALIDATION_FAILED']));
  expect(states).toEqual(refused);
});

test('no address of the corpus is accepted, named or redirected to', { timeout: PATIENCE_MS }, async () => {
  const { closed, loopback } = service;
  expect(FORBIDDEN).toHaveLength(52 + 23);
  const lines = [{ index: 1, start_ms: 0, end_ms: 1000, text: 'hello' }];
  const translation = { subtitle: { type: 'lines', lines }, source_language: 'en', target_language: 'es' };
  const asks = [
    (url: string) => closed.caller.post('/v1/audio-separations', { source: { type: 'url', url } }),
    (url: string) =>
      closed.caller.post('/v1/dubbings', { subtitle: { type: 'url', url }, target_language: 'es' }),
    (url: string) => closed.caller.post('/v1/subtitle-translations', { ...translation, callback_url: url }),
  ];
  for (const [at, url] of FORBIDDEN.entries()) {
    const reply = await asks[at % asks.length]?.(url);
    // 400 if it is not an https address, 422 if it leads inside.
    expect([400, 422], url).toContain(reply?.status);
  }

  for (const path of Object.keys(REDIRECTS)) {
    const source = { type: 'url', url: origin + path };
    const job = await loopback.caller.post('/v1/audio-separations', { source });
    expect(job.status, path).toBe(202);
    const ended = await until(
      () => loopback.caller.get(job.json.detail_url),
      ({ json }) => json.status === 'failed',
      20_000,
    );
    expect(ended.json.error.code, path).toBe(path === '/around' ? 'SOURCE_UNREACHABLE' : 'SOURCE_BLOCKED');
  }
  expect(asked).toEqual(expect.arrayContaining(Object.keys(REDIRECTS)));
});

test(`none of them made the service open another file or connect to anything (${HOW})`, {
  timeout: PATIENCE_MS,
}, async () => {
  const accessed = canaries.filter((canary) => statSync(canary).atimeMs !== LONG_AGO.getTime());
  expect([accessed, called]).toEqual([[], 0]);
  const calls = await service.finish();
  expect(calls.filter((call) => /canary\.txt|segment\.ts/.test(call))).toEqual([]);
  // That ffprobe was seen at work shows that the rest would have been seen too.
  const probed = calls.filter((call) => call.includes(join(service.closed.stateDir, 'uploads')));
  expect(probed.length > traps.length).toBe(CAN_TRACE);
  const addresses = dialled(calls);
  const { host } = new URL(origin);
  expect(addresses.filter((address) => address !== host)).toEqual([]);
  // The permitted source was seen to be called once for each request that it had: nothing else was missed.
  expect(addresses).toHaveLength(CAN_TRACE ? asked.length : 0);
});

test.runIf(CAN_TRACE)('traps are effective: without precautions ffprobe opens their targets', () => {
  const trap = join(service.folder, 'trap.mp4');
  writeFileSync(trap, traps[0]?.bytes ?? '');
  const log = join(service.folder, 'naive.log');
  spawnSync('strace', ['-f', '-qq', '-e', 'trace=?open,openat', '-o', log, 'ffprobe', trap]);
  expect(readFileSync(log, 'utf8')).toContain(join(bait, 'segment.ts'));
});
