import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { EXIT_CODES } from '../../../src/base/exit-codes.ts';
import { describePrinted } from '../../../src/commands/tool/describe-commands.ts';
import { COMMANDS } from '../../../src/commands/tree.ts';
import { ENVIRONMENT } from '../../../src/profiles/environment.ts';
import { OPERATIONS } from '../../../src/protocol/operations.ts';
import { SAMPLE } from '../../engines/workspace.ts';
import { until } from '../../service/harness/scene.ts';
import { videoOf } from '../../service/harness/small-engines.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { runMain, startMain } from '../../support/run-main.ts';
import { expectDescribed } from '../support/output-schemas.ts';
import { QUICK, startVloc } from '../support/run-vloc.ts';

async function run(env: Record<string, string>, ...words: string[]) {
  const { code, stdout } = await runMain(['schema', ...words], { env });
  expect(code).toBe(0);
  return stdout;
}

test('the document is printed without a service, for the configured service', async () => {
  const plain = JSON.parse(await run({}));
  expect([plain.openapi, plain.servers]).toEqual(['3.1.0', [{ url: '/v1' }]]);
  const env = { VLOC_BASE_URL: 'https://api.example.com/v1/', VLOC_HEADER_PREFIX: 'X-Vendor' };
  const hosted = JSON.parse(await run(env, '--output', 'ndjson'));
  expect(hosted.servers).toEqual([{ url: 'https://api.example.com/v1' }]);
  expect(hosted.components.securitySchemes.nonce.name).toBe('X-Vendor-Nonce');
});

test('--output id prints the names of the operations', async () => {
  expect((await run({}, '-o', 'id')).trim().split('\n')).toEqual(OPERATIONS.map((each) => each.operationId));
});

test('--commands describes every command with its options, the exit codes and the variables', async () => {
  const { commands, global_options, exit_codes, environment } = JSON.parse(await run({}, '--commands'));
  const names = COMMANDS.map(({ words }) => words.join(' '));
  expect(commands.map((each: { command: string }) => each.command)).toEqual(names);
  expect((await run({}, '--commands', '-o', 'id')).trim().split('\n')).toEqual(names);
  const translate = commands.find((each: { command: string }) => each.command === 'translate');
  expect(translate.operands).toMatchObject({ name: 'input', count: 'any' });
  const options = Object.fromEntries(translate.options.map((each: { name: string }) => [each.name, each]));
  expect(options['--to']).toMatchObject({ type: 'list', value: 'tags', required: true, repeatable: true });
  expect(options['--order']).toMatchObject({ type: 'choice', choices: ['given', 'size', 'name'] });
  expect(global_options).toContainEqual(expect.objectContaining({ name: '--color', default: 'auto' }));
  expect(exit_codes.map((each: { code: number }) => each.code)).toEqual(
    Object.values(EXIT_CODES).map(({ code }) => code),
  );
  expect(environment.map((each: { name: string }) => each.name)).toEqual(Object.keys(ENVIRONMENT));
});

test('the schemas of the output of a command are printed if it is named', async () => {
  const { json, ndjson } = JSON.parse(await run({}, 'credits'));
  expect(json.properties.object).toEqual({ const: 'credit_balance' });
  expect(ndjson.anyOf).toHaveLength(2);
});

const ajv = new Ajv2020({ strict: true, strictTypes: false });

test.each(COMMANDS.map(({ words, leaf }) => ({ name: words.join(' '), leaf })))(
  'the schemas of `$name` are valid, and have the fields that --fields accepts',
  async ({ leaf }) => {
    const command = await leaf.load();
    const { json, ndjson } = describePrinted(command.prints);
    // The commands below are compiled too, which costs far more.
    for (const schema of [json, ndjson])
      if (schema !== null) expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true);
    const text = JSON.stringify([json, ndjson]);
    const unnamed = (command.fields?.() ?? []).filter((field) => !text.includes(`"${field}":{`));
    expect(unnamed).toEqual([]);
  },
);

test('what commands print is what their schemas say', { timeout: 300_000 }, async () => {
  const vloc = await startVloc();
  for (const [name, content] of Object.entries(FILES)) await writeFile(join(vloc.folder, name), content);
  const ids = async (...words: string[]) => (await vloc.run([...words, '-o', 'id'])).stdout.trim();
  const job = () => ids('translate', 'a.srt', '--from', 'en', '--to', 'es', '--fresh', '--out', 'j');
  const serving = startMain(['serve', '--state-dir', join(vloc.folder, 'served')], { env: vloc.env });
  await until(serving.stdout, (text) => text.includes('VLOC_KEY='));
  const made: Readonly<Record<string, string>> = {
    JOB: await job(),
    OTHER: await job(),
    UPLOAD2: await ids('upload', 'a.mp4'),
    UPLOAD: await ids('upload', 'b.mp4'),
    URL: vloc.env.VLOC_BASE_URL ?? '',
    KEY: vloc.env.VLOC_KEY ?? '',
    SERVED: /VLOC_KEY=(.*)/.exec(serving.stdout())?.[1] ?? '',
  };
  const leaves = new Map(COMMANDS.map(({ words, leaf }) => [words.join(' '), leaf]));
  const seen = new Set<string>();
  for (const form of ['json', 'ndjson'] as const) {
    for (const [name, lines] of Object.entries(LINES)) {
      // Lines have the records of the documents: of commands that state the same lines, one prints them.
      const schema = form + JSON.stringify((await leaves.get(name)?.load())?.prints[form]);
      if (form === 'ndjson' && seen.has(schema)) continue;
      seen.add(schema);
      for (const line of lines) {
        const texts = { ...made, FORM: form, FORM2: `${form}2` };
        const given = line
          .split(' ')
          .map((word) => word.replace(/[A-Z]+2?/, (id) => texts[id as keyof typeof texts] ?? id));
        const words = [...name.split(' '), ...given.filter((word) => word !== ''), '-o', form];
        const env = {
          ...vloc.env,
          ...{ VLOC_WEBHOOK_SECRET: 'whsec', VLOC_NO_KEYCHAIN: '1' },
          // With ffmpeg, the others are no videos.
          ...(line.includes('real.mp4') ? { PATH: rememberingPath() } : {}),
        };
        // Not `vloc.run`, which would compare it with the schemas too.
        const io = { cwd: vloc.folder, pace: QUICK, stdin: vloc.env.VLOC_SECRET ?? '', env };
        const ended = await runMain(words, io);
        expect
          .soft(await expectDescribed(words, ended), `${words.join(' ')}: ${ended.stderr}`)
          .toBeGreaterThan(0);
      }
    }
    const stated = await Promise.all(
      [...leaves].map(async ([name, leaf]) => ((await leaf.load()).prints[form] === undefined ? [] : [name])),
    );
    expect([...Object.keys(LINES), ...ELSEWHERE].toSorted()).toEqual(expect.arrayContaining(stated.flat()));
  }
  serving.send('SIGTERM');
  await serving.ended;
});

test.each([
  [['nonsense'], '`vloc schema --commands --output id` lists all commands.'],
  [['jobs'], 'Commands: jobs list, jobs get'],
  [['credit'], 'Did you mean credits?'],
  [['--commands', 'credits'], 'Leave out the command or the option.'],
])('%j is refused with advice', async (words, advice) => {
  const ended = await runMain(['schema', ...words]);
  expect(ended).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(advice) });
});

const SRT = '1\n00:00:00,000 --> 00:00:02,000\nhello\n';
const FILES = {
  'a.srt': SRT,
  'c.srt': SRT,
  'c.es.srt': SRT,
  'real.mp4': readFileSync(SAMPLE),
  'b.srt': SRT,
  'hasty.srt': SRT.replace('hello', 'hello '.repeat(30)),
  'a.mp4': videoOf(60),
  'b.mp4': videoOf(61),
  'terms.csv': 'term,es\nhello,hola\n',
};

/** Lines for each command that prints JSON; words in capitals stand for what the test has made. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  localize: ['a.mp4 --to es --out l', 'a.mp4 --to es --out l2 --terms terms.csv --dry-run'],
  separate: ['a.mp4 --out s'],
  recognize: ['b.mp4 --dry-run'],
  translate: ['a.srt --from en --to es --out t'],
  dub: ['b.srt --to en --detach --out d'],
  'subtitles check': ['hasty.srt'],
  'subtitles fix': ['hasty.srt --out FORM'],
  'subtitles export': ['c.srt c.es.srt --to es --out FORM.csv'],
  'subtitles import': ['FORM.csv --dry-run'],
  'subtitles compare': ['a.srt hasty.srt'],
  'subtitles convert': ['a.srt --to vtt --out FORM'],
  verify: ['real.mp4'],
  'memory export': ['FORM.tmx --folder t'],
  'memory import': ['FORM.tmx --folder t'],
  'jobs list': ['--limit 1'],
  'jobs get': ['JOB', 'JOB OTHER'],
  'jobs wait': ['JOB tra_x --out FORM'],
  'jobs download': ['JOB --out FORM2'],
  'jobs cancel': ['JOB tra_x'],
  'batch status': ['t --all'],
  'batch report': ['t --format json', 't', 't --attention', 't --attention --back --dry-run'],
  'batch retry': ['t --dry-run'],
  'batch pack': ['t FORM.zip'],
  'batch forget': ['t --gone'],
  'webhooks listen': ['--timeout 1ms'],
  'webhooks verify': ['--body a.srt --timestamp 1 --id e --signature ab'],
  upload: ['a.mp4'],
  'upload list': ['--limit 1'],
  'upload get': ['UPLOAD', 'UPLOAD UPLOAD2'],
  'upload create': ['--purpose source_video --file-name c.mp4 --content-type video/mp4 --size-bytes 10'],
  credits: [''],
  'credits history': ['--limit 1'],
  api: ['/credits', '/uploads --paginate'],
  doctor: [''],
  'profile add': ['FORM --base-url URL --key KEY --secret-stdin --store file'],
  'profile use': ['FORM'],
  'profile list': [''],
  'profile show': ['FORM', ''],
  'profile remove': ['FORM'],
  'engines list': [''],
  'models list': [''],
  'serve health': ['--state-dir served'],
  'serve keys create': ['--state-dir served'],
  'serve keys list': ['--state-dir served'],
  'serve keys revoke': ['SERVED --state-dir served'],
  schema: ['', '--commands', 'credits'],
  completion: ['bash'],
  upgrade: [''],
};

/** Commands whose tests have the programs, models and services that they need, and check what they print. */
const ELSEWHERE = [
  'subtitles preview',
  'upload complete',
  'engines add',
  'engines remove',
  'engines test',
  'engines install',
  'models install',
  'models remove',
  'serve',
  'serve migrate',
];
