import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { enginesAdd } from '../../../src/commands/engines/engines-add.ts';
import { fieldsOf, typesOf } from '../../../src/engines/config-check.ts';
import { BACKEND_STEPS } from '../../../src/media/work.ts';
import { startServer } from '../../engines/backends/loopback-server.ts';
import { nodeScript } from '../../engines/backends/user-program.ts';
import { type EnginesDesk, openEnginesDesk, PROGRAMS } from '../support/run-engines.ts';

const SCHEMA = JSON.parse(
  await readFile(new URL('../../../docs/engines.schema.json', import.meta.url), 'utf8'),
);

let desk: EnginesDesk;
beforeEach(async () => {
  desk = await openEnginesDesk();
});

const shout = () => ['--language', 'en,es', '--', nodeScript(PROGRAMS.translate, 'shout')];

const ADD_LIBRETRANSLATE = [
  'add',
  'translate',
  '--type',
  'libretranslate',
  '--url',
  'http://127.0.0.1:5000',
  '--no-check',
];

describe('vloc engines add', () => {
  it('tries the engine, saves it before the built-in one and says what to do next', async () => {
    const program = nodeScript(PROGRAMS.translate, 'shout');
    const { code, stdout, stderr } = await desk.run([
      'add',
      'translate',
      '--language',
      'en,es',
      '--',
      program,
    ]);
    expect(stderr).toContain('Trying command shout with a short sample, for at most 5 min …');
    expect(stderr).toContain('It works: GOOD MORNING, AND WELCOME');
    expect(stderr).toContain(`Saved in ${desk.file}`);
    expect(stderr).toContain('vloc engines test translate');
    expect(stdout).toMatch(/^USED FOR +# +ENGINE\ntranslate +1 +command shout\n$/);
    expect(code).toBe(0);
    expect(await desk.saved()).toEqual({
      $schema: SCHEMA.$id,
      translate: [{ type: 'command', run: [program], languages: ['en', 'es'] }, 'apertium'],
    });
    expect((await stat(desk.file)).mode & 0o777).toBe(0o600);
  });

  it('adds before or after the existing engines, and keeps the rest of the file', async () => {
    const server = { type: 'libretranslate', url: 'http://127.0.0.1:5000' };
    await desk.configure({ $schema: './mine.json', speak: ['espeak-ng'], translate: [server] });
    expect((await desk.run(['add', 'translate', '--last', ...shout()])).code).toBe(0);
    const url = ['--type', 'libretranslate', '--url', 'http://127.0.0.1:5001', '--no-check'];
    expect((await desk.run(['add', 'translate', '--first', ...url])).code).toBe(0);
    expect(await desk.saved()).toMatchObject({
      $schema: './mine.json',
      speak: ['espeak-ng'],
      translate: [{ url: 'http://127.0.0.1:5001' }, server, { type: 'command' }],
    });
  });

  it('saves nothing if the engine fails, and says why, unless asked not to try', async () => {
    const failing = nodeScript('console.error("no graphics card"); process.exit(3);', 'broken');
    const { code, stderr } = await desk.run(['add', 'translate', '--language', 'en,es', '--', failing]);
    expect(code).toBe(4);
    expect(stderr).toMatch(/the check failed: command broken stopped with exit code 3 \(no graphics card\)/);
    expect(stderr).toContain('Nothing was saved; --no-check saves it without trying it.');
    await expect(desk.saved()).rejects.toThrow('ENOENT');
    const words = ['add', 'translate', '--no-check', '--language', 'en,es', '--', failing];
    expect((await desk.run(words)).code).toBe(0);
    expect(await desk.saved()).toMatchObject({ translate: [{ run: [failing] }, 'apertium'] });
  });

  it('never saves an entry that cannot work', async () => {
    const { code, stderr } = await desk.run(['add', 'recognize', '--no-check', '--', 'whisper', '{input}']);
    expect([code, stderr]).toEqual([
      4,
      expect.stringMatching(/add --language .*such as en,es\n.*Nothing was saved\./),
    ]);
    await expect(desk.saved()).rejects.toThrow('ENOENT');
  });

  it('sends the key from the variable, and stores and shows only the name of the variable', async () => {
    const server = await startServer(() => ({ status: 401, body: { error: { message: 'wrong key' } } }));
    const words = ['add', 'recognize', '--type', 'openai', '--url', server.url, '--model', 'm'];
    const env = { ASR_KEY: 'canary' };
    const { code, stdout, stderr } = await desk.run([...words, '--key-env', 'ASR_KEY', '-o', 'json'], env);
    expect(server.received[0]?.headers.authorization).toBe('Bearer canary');
    expect([code, JSON.parse(stderr.split('\n').at(-2) ?? '')]).toMatchObject([
      4,
      { error: { code: 'ENGINE_CHECK_FAILED', message: expect.stringContaining('wrong key') } },
    ]);
    const saved = await desk.run([...words, '--key-env', 'ASR_KEY', '--no-check'], env);
    expect(await desk.saved()).toMatchObject({ recognize: [{ key: { env: 'ASR_KEY' } }, 'pocketsphinx'] });
    expect(stdout + stderr + saved.stdout + saved.stderr + (await readFile(desk.file, 'utf8'))).not.toContain(
      'canary',
    );
  });

  it('names options instead of fields of the file', async () => {
    const server = await startServer(() => ({ status: 404, body: { error: { message: 'no such model' } } }));
    const words = ['--type', 'openai', '--url', server.url, '--model', 'm'];
    const wrongModel = await desk.run(['add', 'recognize', ...words]);
    expect(wrongModel.stderr).toMatch(
      /404 \(no such model\); check --url and --model\n {2}Nothing was saved;/,
    );
    const voiceless = await desk.run(['add', 'speak', ...words]);
    expect(voiceless.stderr).toMatch(
      /add --voice es=NAME, or --language es for a voice that speaks several\n {2}Nothing was saved;/,
    );
    const closed = ['--type', 'openai', '--url', 'http://127.0.0.1:1/v1', '--model', 'm'];
    const refused = await desk.run(['add', 'recognize', ...closed]);
    expect(refused.stderr).toContain('Start the server, or correct --url.');
    for (const { stderr } of [wrongModel, voiceless, refused]) expect(stderr).not.toContain('engines.json');
  });

  it('refuses an engine that gets every word of the sample wrong, and shows its words', async () => {
    const deaf = nodeScript(
      PROGRAMS.recognize.replace(/const words = '.*'/, "const words = 'la la la'"),
      'deaf',
    );
    const words = ['add', 'recognize', '--language', 'en', '--', deaf, '{input}', '{output}'];
    const { code, stderr } = await desk.run(words);
    expect([code, stderr]).toEqual([
      4,
      expect.stringMatching(
        /all words of the sample are wrong: "la la la"\n {2}Check its model and language\./,
      ),
    ]);
    expect(stderr).not.toContain('It works');
    await expect(desk.saved()).rejects.toThrow('ENOENT');
  });

  it('gives up a server that never answers after a time that it names first', async () => {
    const server = await startServer(() => () => {});
    const words = ['add', 'recognize', '--type', 'openai', '--url', server.url, '--model', 'm'];
    const { code, stderr } = await desk.run(words, {}, { trialMs: 200 });
    expect([code, stderr]).toEqual([4, expect.stringContaining('openai m returned no result in 0.2 s')]);
    expect(stderr).toContain('Trying openai m with a short sample, for at most 0.2 s …');
    await expect(desk.saved()).rejects.toThrow('ENOENT');
  });

  it('writes every option to its field, with paths that are valid from any folder', async () => {
    await mkdir(join(desk.folder, 'bin'));
    const all = [
      '--concurrency',
      '2',
      '--timeout',
      '90s',
      '--no-fallback',
      '--language',
      'es',
      '--language',
      'pt-BR',
    ];
    const voices = ['--voice', 'es=dora', '--voice', 'es.male=alex', '--voice', 'pt-BR=ana'];
    const url = ['--url', 'http://127.0.0.1:1/v1', '--insecure', '--key-env', 'KEY'];
    await desk.run([
      'add',
      'speak',
      '--type',
      'openai',
      ...url,
      '--model',
      'm',
      ...voices,
      ...all,
      '--no-check',
    ]);
    const chat = ['--type', 'openai', ...url, '--model', 'm', '--context', '3', '--instructions', 'Be kind.'];
    await desk.run(['add', 'translate', ...chat, '--no-check']);
    const tool = [
      '--format',
      'verbose_json',
      '--language',
      'en',
      '--no-check',
      '--',
      'bin/asr',
      '--in',
      '{input}',
    ];
    await desk.run(['add', 'recognize', ...tool]);
    const stems = [
      '--vocals',
      'v.wav',
      '--background',
      'b.wav',
      '--no-check',
      '--',
      'sep',
      '{input}',
      '{out}',
    ];
    await desk.run(['add', 'separate', ...stems]);
    expect(await desk.saved()).toMatchObject({
      speak: [
        {
          key: { env: 'KEY' },
          insecure: true,
          voices: { es: { auto: 'dora', male: 'alex' }, 'pt-BR': 'ana' },
          languages: ['es', 'pt-BR'],
          fallback: false,
          concurrency: 2,
          timeout: 90,
        },
        'flite',
        'espeak-ng',
      ],
      translate: [{ context: 3, instructions: 'Be kind.' }, 'apertium'],
      recognize: [
        { run: [join(desk.folder, 'bin/asr'), '--in', '{input}'], format: 'verbose_json' },
        'pocketsphinx',
      ],
      separate: [{ run: ['sep', '{input}', '{out}'], vocals: 'v.wav', background: 'b.wav' }, 'builtin'],
    });
  });

  it.each([
    [[], 'missing <step>: recognize, translate, speak or separate'],
    [['recgnize', '--type', 'openai'], 'there is no step "recgnize"\n  Did you mean recognize?'],
    [['recognize'], '--type is missing\n  Types for recognize: openai, sherpa, command.'],
    [['recognize', '--type', 'openai', '--model', 'm'], '--url: is missing: address of the server'],
    [['translate', '--type', 'openai', '--', 'tool'], 'an engine of type openai has no program'],
    [['translate', '--type', 'command'], '-- PROGRAM: is missing'],
    [
      ['translate', '--voice', 'es=dora', '--', 'tool'],
      '--voice: type command does not have it for the step translate',
    ],
    [
      ['speak', '--voice', 'es.child=dora', '--', 'tool'],
      '--voice: type command does not have it for the step speak',
    ],
    [['translate', '--concurrency', '99', '--', 'tool'], '--concurrency: must be at most 64'],
    [['translate', '--first', '--last', '--', 'tool'], '--first and --last cannot be combined'],
  ])('refuses %j', async (words, message) => {
    const { code, stderr } = await desk.run(['add', ...words]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    await expect(desk.saved()).rejects.toThrow('ENOENT');
  });

  it('refuses an engine that exists already, also with other settings, and names the command that removes it', async () => {
    await desk.run(ADD_LIBRETRANSLATE);
    const tuned = ADD_LIBRETRANSLATE.map((word) => word.replace(':5000', ':5000/'));
    for (const words of [ADD_LIBRETRANSLATE, [...tuned, '--timeout', '90s', '--last']]) {
      const { code, stderr } = await desk.run(words);
      expect([code, stderr]).toEqual([2, expect.stringContaining('engine 1 of translate is the same')]);
      expect(stderr).toContain('remove it first: vloc engines remove translate 1');
    }
    expect(await desk.saved()).toMatchObject({ translate: [{ type: 'libretranslate' }, 'apertium'] });
    const other = ADD_LIBRETRANSLATE.map((word) => word.replace(':5000', ':5001'));
    expect((await desk.run(other)).code).toBe(0);
  });

  it('creates the file that --engines or VLOC_ENGINES names', async () => {
    const { stderr } = await desk.run([...ADD_LIBRETRANSLATE, '--engines', 'mine/engines.json']);
    expect(stderr).toContain('vloc engines test translate --engines mine/engines.json');
    await desk.run(ADD_LIBRETRANSLATE, { VLOC_ENGINES: 'other.json' });
    for (const name of ['mine/engines.json', 'other.json']) {
      const text = await readFile(join(desk.folder, name), 'utf8');
      expect(JSON.parse(text)).toMatchObject({ translate: [{ type: 'libretranslate' }, 'apertium'] });
    }
  });

  it('does not change a file with mistakes', async () => {
    await mkdir(dirname(desk.file));
    await writeFile(desk.file, '{"translate": [}');
    const { code, stderr } = await desk.run(['add', 'translate', '--no-check', ...shout()]);
    expect([code, stderr]).toEqual([
      4,
      expect.stringContaining('is not JSON: line 1, column 16: expected a value'),
    ]);
    expect(await readFile(desk.file, 'utf8')).toBe('{"translate": [}');
  });
});

it('every field of every type has an option', () => {
  const names: Record<string, string> = {
    key: 'keyEnv',
    languages: 'language',
    voices: 'voice',
    fallback: 'noFallback',
    gpu: 'noGpu',
  };
  const fields = BACKEND_STEPS.flatMap((step) =>
    typesOf(step).flatMap((type) => Object.keys(fieldsOf(step, type))),
  );
  const options = Object.keys(enginesAdd.options);
  // The program follows `--`.
  const missing = fields.filter((field) => field !== 'run' && !options.includes(names[field] ?? field));
  expect(missing).toEqual([]);
});
