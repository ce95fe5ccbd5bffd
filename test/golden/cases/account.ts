/** Profiles, project files, the embedded service and its store, keys, doctor, webhooks. */
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { EVENT_ID, eventBody, type SignOptions, sign } from '../../client/webhooks/sign.ts';
import { startScene } from '../../service/harness/scene.ts';
import type { Case, Stage } from '../stage.ts';
import { FILES, prepare, SRT, TRANSLATE, VIDEO } from './files.ts';

const ALONE = { VLOC_BASE_URL: undefined, VLOC_KEY: undefined, VLOC_SECRET: undefined };
const ADD = 'profile add prod --base-url https://api.example.com/v1 --key vk_1';

const profiles = (when: string, content: string, line = 'profile list'): Case => ({
  line,
  when,
  files: { 'config/profiles.json': content },
  before: async (stage) => {
    await mkdir(stage.path('config'), { recursive: true, mode: 0o700 });
  },
});

const project = (content: string | object, line = 'profile show'): Case => ({
  line,
  when: `vloc.config.json: ${typeof content === 'string' ? content : JSON.stringify(content)}`,
  files: { ...FILES, 'vloc.config.json': typeof content === 'string' ? content : JSON.stringify(content) },
});

/** A store that something is done to before a command opens it. */
const store = (when: string, line: string, damage: (path: string, stage: Stage) => Promise<void>): Case => ({
  line,
  when,
  before: async (stage) => {
    await (await startScene({ stateDir: stage.path('state') })).service.close();
    await stage.write('state/uploads/talk', 'video');
    await damage(stage.path('state/service.sqlite'), stage);
  },
});

const SECRET = 'whsec_canary';
/** 2026-11-20T18:04:05Z. */
const AT = 1_795_197_845;
const BODY = eventBody('dub_1');

/** A delivery that is judged as of its arrival. */
function delivery(
  when: string,
  signed: Partial<SignOptions>,
  more: Partial<Case> & { extra?: string } = {},
): Case {
  const { headers } = sign(BODY, { secret: SECRET, at: AT, ...signed });
  const [timestamp = '', id = '', signature = ''] = Object.values(headers);
  const { extra = '', ...rest } = more;
  return {
    line: `webhooks verify --body - --timestamp ${timestamp} --id ${id} --signature SIGNATURE${extra}`,
    when,
    stdin: BODY,
    env: { VLOC_WEBHOOK_SECRET: SECRET },
    io: { now: () => AT * 1000 },
    before: async (stage) => stage.fill('SIGNATURE', signature),
    ...rest,
  };
}

const verify = (line: string, when: string, more: Partial<Case> = {}): Case => ({
  line: `webhooks verify ${line}`,
  when,
  env: { VLOC_WEBHOOK_SECRET: SECRET },
  io: { now: () => AT * 1000 },
  ...more,
});

const savedHeaders = Object.entries(sign(BODY, { secret: SECRET, at: AT }).headers).map(
  ([name, value]) => `${name}: ${value}`,
);

export const ACCOUNT: readonly Case[] = [
  // Profiles
  { line: 'profile list', when: 'none' },
  { line: 'profile show', when: 'set by the environment' },
  { line: 'profile show', when: 'nothing is set', env: ALONE },
  { line: 'profile add local' },
  { line: 'profile add "a b"' },
  { line: ADD },
  { line: `${ADD} --secret-stdin --no-check`, when: 'an empty secret', stdin: '\n' },
  { line: `${ADD} --secret-stdin --secret-command pass` },
  { line: `${ADD} --secret-stdin --no-check`, when: 'stored', stdin: 'secret\n' },
  { line: 'profile add prod --base-url example.com --key vk_1 --secret-stdin --no-check', stdin: 'secret\n' },
  {
    line: 'profile add prod --base-url URL --key vk_1 --secret-stdin',
    when: 'the key does not work',
    stdin: 'secret\n',
    before: async (stage) => stage.fill('URL', stage.env.VLOC_BASE_URL ?? ''),
  },
  {
    line: `${ADD} --secret-stdin --no-check`,
    when: 'there is one of that name',
    stdin: 'secret\n',
    before: async (stage) => {
      await stage.run(`${ADD} --secret-stdin --no-check`, { stdin: 'secret\n' });
    },
  },
  {
    line: 'credits --profile prod',
    when: 'the command for the secret fails',
    env: ALONE,
    files: { 'bin/pass': '#!/bin/sh\necho locked >&2\nexit 2\n' },
    before: (stage) => prepare(stage, `${ADD} --secret-command pass --no-check`),
  },
  {
    line: 'credits --profile prod',
    when: 'the command for the secret is not there',
    env: ALONE,
    before: (stage) => prepare(stage, `${ADD} --secret-command nopass --no-check`),
  },
  {
    line: 'credits --profile pord',
    env: ALONE,
    before: (stage) => prepare(stage, `${ADD} --secret-command nopass --no-check`),
  },
  {
    line: 'profile remove prod',
    before: (stage) => prepare(stage, `${ADD} --secret-command nopass --no-check`),
  },
  {
    line: 'credits',
    when: 'another address and the key of the profile',
    env: { ...ALONE, VLOC_BASE_URL: 'https://other.example.com/v1' },
    before: (stage) => prepare(stage, `${ADD} --secret-command nopass --no-check`),
  },
  profiles('not JSON', '{'),
  profiles('a newer version', '{"version":2,"profiles":[]}'),
  profiles('a profile without an address', '{"version":1,"profiles":[{"name":"a"}]}'),
  profiles('not JSON', '{', 'profile use prod'),
  {
    line: 'profile list',
    when: 'the file is a folder',
    files: { 'config/profiles.json/x': '' },
  },
  {
    line: `${ADD} --secret-stdin --no-check`,
    when: 'the file is a link',
    stdin: 'secret\n',
    before: async (stage) => {
      await mkdir(stage.path('config'), { mode: 0o700 });
      await symlink('elsewhere', stage.path('config/profiles.json'));
    },
  },
  {
    line: `${ADD} --secret-stdin --no-check`,
    when: 'the folder is a file',
    stdin: 'secret\n',
    env: { VLOC_CONFIG_DIR: '/dev/null/config' },
  },
  // The project file
  project('{'),
  project({ nope: 1 }),
  project({ profil: 'a' }),
  project({ secret: 'a' }),
  project({ profile: 1 }),
  { ...project({ profile: 'nope' }, 'credits'), env: ALONE },
  project(
    { defaults: { too: 'es', clobber: 'yes', jobs: 'x', to: 1, set: [], output: 'yaml', name: {} } },
    TRANSLATE,
  ),
  // The embedded service
  store('cut off', 'serve keys list', (path) => truncate(path, 5000)),
  store('not a database', 'serve keys list', (path) => writeFile(path, 'x'.repeat(9000))),
  store('empty', 'serve keys list', (path) => writeFile(path, '')),
  store('a newer version', 'serve keys list', async (path) => {
    const database = new DatabaseSync(path);
    database.exec('PRAGMA user_version = 99');
    database.close();
  }),
  store('whole', 'serve keys revoke vk_nobody', async () => {}),
  {
    line: 'serve --port PORT',
    when: 'another program listens there',
    before: async (stage) => stage.fill('PORT', new URL(stage.scene.service.url).port),
  },
  { line: 'serve --host 192.0.2.1' },
  // Webhooks
  delivery('genuine', {}),
  delivery('genuine', {}, { extra: ' -o json' }),
  delivery('the other form', { joint: '.' }, { extra: ' --form newline' }),
  delivery('another secret', { secret: 'other' }),
  delivery('too old', { at: AT - 400 }),
  delivery('too new', { at: AT + 400 }),
  delivery('a line break behind the body', {}, { stdin: `${BODY}\n` }),
  delivery('written anew', {}, { stdin: JSON.stringify(JSON.parse(BODY), null, 2) }),
  delivery('no secret', {}, { env: {} }),
  delivery('a wrong time', {}, { extra: ' --at yesterday' }),
  verify('--body event.json --headers headers.txt --secret-stdin', 'an empty secret', {
    files: { 'event.json': BODY, 'headers.txt': savedHeaders.join('\n') },
    env: {},
    stdin: '\n',
  }),
  verify('', 'nothing'),
  verify('--body event.json', 'no headers', { files: { 'event.json': BODY } }),
  verify('--body nope.json --headers nope.txt', 'no files'),
  verify('--body - --headers -', 'stdin twice', { stdin: BODY }),
  verify('--body event.json --headers headers.txt', 'a header is missing', {
    files: { 'event.json': BODY, 'headers.txt': savedHeaders.slice(1).join('\n') },
  }),
  verify('--body event.json --headers headers.txt', 'a header twice', {
    files: { 'event.json': BODY, 'headers.txt': [...savedHeaders, ...savedHeaders].join('\n') },
  }),
  verify(`--body - --timestamp ${AT} --id ${EVENT_ID} --signature ${'A'.repeat(64)}`, 'upper case', {
    stdin: BODY,
  }),
  { line: 'webhooks listen --path hook', env: { VLOC_WEBHOOK_SECRET: SECRET } },
  { line: 'webhooks listen --forward-to http://example.com/hook', env: { VLOC_WEBHOOK_SECRET: SECRET } },
  { line: 'webhooks listen --until dub_1 --timeout 100ms', env: { VLOC_WEBHOOK_SECRET: SECRET } },
  // This machine
  { line: 'doctor -o id', when: 'nothing listens', env: { VLOC_BASE_URL: 'http://127.0.0.1:1/v1' } },
  { line: 'doctor --clear-locks -q -o id' },
  {
    line: 'localize a.mp4 --to es --from-subtitles',
    when: 'no programs',
    files: { 'a.mp4': VIDEO, 'a.es.srt': SRT },
  },
];
