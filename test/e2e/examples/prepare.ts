/** What an example takes for granted: files, jobs, uploads, keys and profiles. Each is made when the line names it. */
import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { storePath } from '../../../src/service/folders.ts';
import { CREATE_MARK, MARK_TABLE, MARKED } from '../../../src/service/store/mark.ts';
import { SCHEMA_VERSION } from '../../../src/service/store/schema.ts';
import { EVENT_ID, eventBody, sign } from '../../client/webhooks/sign.ts';
import { finishUpload, LINES, sendUpload, TRANSLATION, untilJob } from '../../service/harness/scene.ts';
import type { Desk } from './desk.ts';

const SAMPLE = fileURLToPath(new URL('../../fixtures/sample.mp4', import.meta.url));
const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhello\n';
const DUBBING = { subtitle: LINES, target_language: 'es' };
export const WEBHOOK_SECRET = 'whsec_example';
/** 2026-11-20T18:04:05Z, the time of the delivery in the examples. */
const DELIVERED_AT = 1_795_197_845;

/** The files that examples read. */
const FILES: Readonly<Record<string, () => string | Buffer>> = {
  'talk.mp4': cutVideo,
  'talk.es.mp4': cutVideo,
  'talk.mkv': remuxVideo,
  'lecture.mp4': cutVideo,
  'book.srt': () => SRT,
  'lesson-1.mp4': cutVideo,
  'lesson-2.mp4': cutVideo,
  'talk.srt': () => SRT,
  'talk.en.srt': () => SRT,
  'talk.es.srt': () => SRT,
  'talk.es.vtt': () => 'WEBVTT\n\n00:00.000 --> 00:01.000\nhello\n',
  'talk.vtt': () => 'WEBVTT\n\n00:00.000 --> 00:01.000\nhello\n',
  'talk.es.ass': () => '[Events]\nDialogue: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,hola\n',
  'terms.csv': () => 'term,es\nhello,hola\n',
  'request.json': () => JSON.stringify(DUBBING),
  'event.json': () => eventBody('dub_1'),
  'headers.txt': () => headerLines(),
  'house.json': () => '{"extends": "netflix", "rows": 3}',
  'service.json': () => '{"opening_credits":500}',
};

let video: Buffer | undefined;

/** The first second of the sample. */
function cutVideo(): Buffer {
  const args = [
    '-v',
    'error',
    '-i',
    SAMPLE,
    '-t',
    '1',
    '-c',
    'copy',
    '-movflags',
    'frag_keyframe+empty_moov',
  ];
  video ??= execFileSync('ffmpeg', [...args, '-f', 'mp4', '-']);
  return video;
}

/** The same in a container that the service does not take. */
function remuxVideo(): Buffer {
  const args = ['-v', 'error', '-i', '-', '-c', 'copy', '-f', 'matroska', '-'];
  return execFileSync('ffmpeg', args, { input: cutVideo() });
}

function headerLines(): string {
  const { headers } = sign(eventBody('dub_1'), { secret: WEBHOOK_SECRET, at: DELIVERED_AT });
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('');
}

/** Returns the line with real values instead of invented ones. */
type Preparation = (desk: Desk, line: string) => Promise<string>;

const PREPARATIONS: readonly (readonly [wanted: RegExp, prepare: Preparation])[] = [
  [/\b(loc|rec|tra)_01\w+/, makeJob],
  [/\bupl_01\w+/, makeUpload],
  [/\bjobs list\b|--all-finished/, makeJobs],
  [/\bcredits history\b/, makeJobs],
  [/\bmonthly_usage\b/, limitKey],
  [/\bupload list\b|\/uploads\?/, makeUpload],
  [/\bbatch \w+ out(?!-)\b/, makeBatch],
  [/\bbatch \w+ out-1\b/, makeShards],
  [/\binbox\b/, fillFolder('inbox', 'talk.mp4')],
  [/\bvideos\b/, fillFolder('videos', 'tour.mp4')],
  [/\b(check|fix|convert) subtitles\b/, fillFolder('subtitles', 'talk.es.srt', () => SRT)],
  [/\bedited\/talk/, fillFolder('edited', 'talk.es.srt', () => SRT.replace('hello', 'hola'))],
  [/\bsubtitles preview\b/, showForLonger],
  [/\bsubtitles export\b/, fillLessons],
  [/\bsubtitles import\b/, makeReview],
  [/--write results\b/, fillFolder('results', 'before.mp4')],
  [/\bprofile (use|show|remove|list)\b/, makeProfiles],
  [/\bserve keys (list|revoke)\b/, makeKey],
  [/\bserve migrate\b/, makeMoved],
  [/\bapi\.example\.com\b|\bprofile add\b/, nameService],
  [/\bwebhooks\b/, signDelivery],
  [/--port \d+/, async (_desk, line) => line.replace(/--port \d+/, '--port 0')],
];

/** Creates what the line names, and returns the line to run. */
export async function prepare(desk: Desk, line: string): Promise<string> {
  for (const [name, content] of Object.entries(FILES)) {
    if (new RegExp(`(^|[\\s@])${name}`).test(line)) await writeFile(join(desk.folder, name), content());
  }
  let prepared = line;
  for (const [wanted, prepareIt] of PREPARATIONS) {
    if (wanted.test(prepared)) prepared = await prepareIt(desk, prepared);
  }
  return prepared;
}

const PATHS: Readonly<Record<string, string>> = {
  loc: '/v1/auto-localizations',
  rec: '/v1/subtitle-recognitions',
  tra: '/v1/subtitle-translations',
};

/** A job of the kind that the id shows: running when it is to be cancelled, new when it is waited for, else finished. */
async function makeJob(desk: Desk, line: string): Promise<string> {
  const { caller } = desk.scene;
  const [placeholder = '', prefix = ''] = /\b(loc|rec|tra)_01\w+/.exec(line) ?? [];
  if (line.includes('cancel')) desk.engines.hold();
  const source = { type: 'upload', upload_id: (await finishUpload(caller, cutVideo())).id };
  const languages = prefix === 'loc' ? { source_language: 'en', target_language: 'es' } : {};
  const request = prefix === 'tra' ? TRANSLATION : { source, ...languages };
  const { json } = await caller.post(PATHS[prefix] ?? '', request);
  if (!/cancel|wait|--until/.test(line)) await untilJob(caller, json, 'succeeded');
  return line.replaceAll(placeholder, json.id);
}

/** One that is ready, or one whose bytes have just arrived. */
async function makeUpload(desk: Desk, line: string): Promise<string> {
  const { caller } = desk.scene;
  if (!line.includes('complete')) {
    const { id } = await finishUpload(caller, cutVideo());
    return line.replace(/\bupl_01\w+/, id);
  }
  const { id, etag } = await sendUpload(caller, cutVideo());
  return line.replace(/\bupl_01\w+/, id).replace(/(--etag) \w+/, `$1 ${etag.replaceAll('"', '')}`);
}

/** Three jobs: finished ones or, if unfinished ones are wanted, a running one and two that wait for it. */
async function makeJobs(desk: Desk, line: string): Promise<string> {
  const { caller } = desk.scene;
  const unfinished = /--status (processing|queued)/.test(line);
  if (unfinished) desk.engines.hold();
  if (line.includes('--status failed')) desk.engines.failNext(new JobFailure('SUBTITLE_INVALID', 'it broke'));
  for (const reference of ['lesson 1', 'lesson 2', 'lesson 3']) {
    const { json } = await caller.post('/v1/dubbings', { ...DUBBING, client_reference: reference });
    if (!unfinished) await untilJob(caller, json, 'succeeded', 'failed');
    else if (reference === 'lesson 1') await untilJob(caller, json, 'processing');
  }
  return line;
}

/** A folder that a video has come into; `tour.mp4` belongs to the second of three shards. */
function fillFolder(folder: string, name: string, content: () => string | Buffer = cutVideo): Preparation {
  return async (desk, line) => {
    await mkdir(join(desk.folder, folder));
    await writeFile(join(desk.folder, folder, name), content());
    return line;
  };
}

/** A video and a cue that last until the second of the example. */
async function showForLonger({ folder }: Desk, line: string): Promise<string> {
  await copyFile(SAMPLE, join(folder, 'talk.mp4'));
  await writeFile(join(folder, 'talk.es.srt'), SRT.replace('00:00:01,000', '00:00:14,000'));
  return line;
}

async function fillLessons({ folder }: Desk, line: string): Promise<string> {
  await mkdir(join(folder, 'lessons'));
  const texts = { en: 'hello', es: 'hola', ...(line.includes('fr') ? { fr: 'bonjour' } : {}) };
  for (const [language, text] of Object.entries(texts))
    await writeFile(join(folder, 'lessons', `talk.${language}.srt`), SRT.replace('hello', text));
  return line;
}

/** A table with one edited cell. */
async function makeReview(desk: Desk, line: string): Promise<string> {
  const table = join(desk.folder, 'review.csv');
  await fillLessons(desk, line);
  const words = ['subtitles', 'export', 'lessons', '--to', 'es', '--out', table];
  const { code, stderr } = await desk.run(words);
  if (code !== 0) throw new Error(stderr);
  await writeFile(table, (await readFile(table, 'utf8')).replace('hola', 'buenas'));
  return line;
}

/** The folders of three machines that ran a shard each. */
async function makeShards(desk: Desk, line: string): Promise<string> {
  await mkdir(join(desk.folder, 'lessons'));
  for (const name of ['a.srt', 'b.srt', 'c.srt', 'd.srt']) {
    await writeFile(join(desk.folder, 'lessons', name), SRT);
  }
  for (const shard of ['1', '2', '3']) {
    const words = ['translate', 'lessons', '--from', 'en', '--to', 'es', '--out', `out-${shard}`];
    const { code, stderr } = await desk.run([...words, '--shard', `${shard}/3`]);
    if (code !== 0) throw new Error(stderr);
  }
  return line;
}

/** A batch of two, of which one failed for a reason that may have passed. */
async function makeBatch(desk: Desk, line: string): Promise<string> {
  await mkdir(join(desk.folder, 'lessons'));
  for (const name of ['a.srt', 'b.srt']) await writeFile(join(desk.folder, 'lessons', name), SRT);
  desk.engines.failNext(new JobFailure('SOURCE_UNREACHABLE', 'the source did not answer'));
  const words = ['translate', 'lessons', '--from', 'en', '--to', 'es', '--out', 'out'];
  const { code, stderr } = await desk.run(words);
  if (code !== 3) throw new Error(`the batch ended with ${code}, not as one with a failed item: ${stderr}`);
  return line;
}

/** Without a quota nothing remains of it. */
async function limitKey({ scene }: Desk, line: string): Promise<string> {
  await scene.service.changeKey(scene.credentials.key, { monthlyLimitCredits: 500 });
  return line;
}

async function makeProfiles(desk: Desk, line: string): Promise<string> {
  for (const name of ['prod', 'staging', 'test-1', 'test-2']) {
    const words = ['profile', 'add', name, '--base-url', desk.scene.service.url, '--key', 'vk_1'];
    const { code, stderr } = await desk.run([...words, '--secret-stdin', '--no-check'], 'secret\n');
    if (code !== 0) throw new Error(stderr);
  }
  return line;
}

async function makeKey(desk: Desk, line: string): Promise<string> {
  const { stdout } = await desk.run(['serve', 'keys', 'create', '-o', 'json']);
  return line.replace(/\bvk_Zm\w+/, JSON.parse(stdout).key);
}

/** The account of the desk, where it was moved away for `--undo`, and the address of a database that is not there. */
async function makeMoved(desk: Desk, line: string): Promise<string> {
  const { VLOC_STATE_DIR: stateDir = '' } = desk.env;
  await desk.run(['serve', 'keys', 'create', '-o', 'json']);
  if (line.includes('--undo')) {
    const store = new DatabaseSync(storePath(stateDir));
    store.exec(`${CREATE_MARK} INSERT INTO ${MARK_TABLE} VALUES ('moved', 'an-id', 'db.example.com/vloc', 0);
      PRAGMA user_version = ${MARKED + SCHEMA_VERSION}`);
    store.close();
  }
  return line.replace('/var/lib/vloc', stateDir).replace('db.example.com', '127.0.0.1:1');
}

/** The service of this desk instead of the example's, and its secret only in the password manager. */
async function nameService(desk: Desk, line: string): Promise<string> {
  const { service, credentials } = desk.scene;
  await writeFile(join(desk.folder, 'secret'), `${credentials.secret}\n`);
  await desk.addProgram('pass', `[ "$*" = 'show vloc' ] && cat '${join(desk.folder, 'secret')}'`);
  for (const name of ['VLOC_BASE_URL', 'VLOC_KEY', 'VLOC_SECRET']) delete desk.env[name];
  return line.replace('https://api.example.com/v1', service.url).replace('vk_prod', credentials.key);
}

/** A delivery that was signed now, where no time is given to judge it by. */
async function signDelivery(desk: Desk, line: string): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const headers = sign(eventBody('dub_1'), { secret: WEBHOOK_SECRET, at: now }).headers;
  desk.env.VLOC_WEBHOOK_SECRET = WEBHOOK_SECRET;
  desk.env.SIGNATURE = headers['X-Service-Webhook-Signature'] ?? '';
  if (!line.includes(EVENT_ID) && line.includes('--id')) throw new Error(`another event: ${line}`);
  return line.replace(String(DELIVERED_AT), String(now));
}
