import { describe, expect, it } from 'vitest';
import { factsOf, HELP_GROUPS } from '../../src/base/option.ts';
import { flagName } from '../../src/batch/inputs/field-flags.ts';
import { parseArguments } from '../../src/cli/program.ts';
import type { Command } from '../../src/commands/context/command.ts';
import { GLOBAL_OPTIONS } from '../../src/commands/context/global-options.ts';
import { COMMANDS } from '../../src/commands/tree.ts';
import { makeFolder } from '../support/make-folder.ts';
import { runMain } from '../support/run-main.ts';
import { createTestIo } from '../support/test-io.ts';

const LEAVES = COMMANDS.map(({ words, leaf }) => ({ words, load: leaf.load }));

/** The words of the call of that command in a shell example, without quotes; pipes around it do not matter here. */
function wordsOf(example: string, command: readonly string[]): string[] {
  const tokens = (example.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []).map((token) =>
    /['"]/.test(token) ? token.replace(/['"]/g, '') : token.replace(/^[<$]\(|\)$/g, ''),
  );
  const called = (at: number) => ['vloc', ...command].every((word, place) => tokens[at + place] === word);
  const start = tokens.findIndex((_, at) => called(at));
  const end = tokens.findIndex((token, at) => at > start && /^[|<>#]/.test(token));
  const call = tokens.slice(start + 1, end < 0 ? undefined : end);
  // `xargs` adds the operands.
  return tokens.slice(0, start).includes('xargs') ? [...call, 'x'] : call;
}

const helpOf = async (...words: string[]) => {
  const { io, stdout } = createTestIo();
  await parseArguments([...words, '--help'], io);
  return stdout();
};

describe.each(LEAVES)('vloc $words', ({ words, load }) => {
  it('has help with examples that parse', async () => {
    const command: Command = await load();
    expect(command.examples.length).toBeGreaterThan(0);
    for (const example of command.examples) {
      const invocation = await parseArguments(wordsOf(example.command, words), createTestIo().io);
      // Not the command itself: some are created each time, from the table.
      const { examples } = command;
      expect(invocation, example.command).toMatchObject({ type: 'command', command: { examples } });
    }
  });

  it('explains each operand as its usage line names it', async () => {
    const help = await helpOf(...words);
    const usage = /^Usage: .*/.exec(help)?.[0].replace(/\[(?:options|command)\]/g, '') ?? '';
    const named = [...usage.matchAll(/[<[](.+?)(?:\.{3})?[>\]]/g)].map(([, name]) => name);
    const section = /^Arguments:\n((?: {2}.*\n)+)/m.exec(help)?.[1] ?? '';
    expect([...section.matchAll(/^ {2}(\S.*?) {2}/gm)].map(([, name]) => name)).toEqual(named);
  });
});

it('an empty value of an option that takes a text is refused', async () => {
  const { options } =
    (await LEAVES.find(({ words }) => words.join() === 'localize')?.load()) ?? expect.fail();
  const texts = Object.entries({ ...options, ...GLOBAL_OPTIONS })
    .map(([name, option]) => ({ flag: flagName(name), ...factsOf(option) }))
    .filter(({ value }) => value !== null);
  for (const { flag, type } of texts) {
    for (const empty of type === 'list' ? ['', ' , '] : ['']) {
      const refused = parseArguments(['localize', 'x', `${flag}=${empty}`], createTestIo().io);
      await expect(refused, flag).rejects.toMatchObject({
        category: 'usage',
        message: expect.stringContaining(`invalid ${flag} "${empty}": `),
      });
    }
  }
});

it.each([
  ['profile', 'use', ''],
  ['jobs', 'get', ''],
  ['translate', 'x', ''],
])('an empty operand is refused, also beside others: %j', async (...words) => {
  expect(await runMain(words, { cwd: makeFolder() })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('invalid argument "": expected a value that is not empty'),
  });
});

describe('option values', () => {
  it('splits lists at commas and over repetitions', async () => {
    const { io } = createTestIo();
    const invocation = await parseArguments(
      ['localize', 'a.mp4', 'b.mp4', '--to', 'es, ca', '--to', 'fr'],
      io,
    );
    expect(invocation).toMatchObject({ operands: ['a.mp4', 'b.mp4'], options: { to: ['es', 'ca', 'fr'] } });
  });

  it('collects name=value pairs, also with an equals sign in the value', async () => {
    const { io } = createTestIo();
    const invocation = await parseArguments(['separate', 'a.mp4', '--set', 'a=1', '--set', 'b=c=d'], io);
    expect(invocation).toMatchObject({ options: { set: { a: '1', b: 'c=d' } } });
  });
});

describe('a word after a command or group that is not one of its commands', () => {
  it.each([
    [
      ['models', 'instal', '--to', 'es'],
      "unknown command 'instal' (Did you mean install?)",
      'See `vloc models --help`.',
    ],
    [['models', '--to', 'es'], "unknown option '--to'", 'See `vloc models --help`.'],
    [
      ['localize', 'talk.mp4', '--sound-onl'],
      "unknown option '--sound-onl' (Did you mean --sound-only?)",
      'See `vloc localize --help`.',
    ],
    [
      ['jobs', 'list', '--json'],
      "unknown option '--json' (Did you mean --output json?)",
      'See `vloc jobs list --help`.',
    ],
    [['serve', 'keys', 'xyzzy'], "unknown command 'xyzzy'", 'See `vloc serve keys --help`.'],
    [
      ['serve', '--port', '80', 'kyes'],
      "unknown command 'kyes' (Did you mean keys?)",
      'See `vloc serve --help`.',
    ],
  ])('is reported, with the name that may be meant: %j', async (argv, message, advice) => {
    const parsed = parseArguments(argv, createTestIo().io);
    await expect(parsed).rejects.toMatchObject({ facts: { category: 'usage', message, advice } });
  });
});

it('is found although options of every command come before its name', async () => {
  const { io } = createTestIo();
  const invocation = await parseArguments(
    ['--profile', 'x', '-q', 'jobs', '-o', 'json', 'list', '--all'],
    io,
  );
  expect(invocation).toMatchObject({
    global: { profile: 'x', quiet: true, output: 'json' },
    options: { all: true },
  });
});

describe('names that other tools use', () => {
  it.each([
    ['login', 'vloc profile add'],
    ['status', 'vloc batch status'],
    ['status', 'vloc jobs list'],
    ['list', 'vloc jobs list'],
    ['transcribe', 'vloc recognize'],
  ])('%s leads to %s', async (name, command) => {
    await expect(parseArguments([name, 'x'], createTestIo().io)).rejects.toMatchObject({
      facts: {
        category: 'usage',
        message: `unknown command '${name}'`,
        advice: expect.stringContaining(`\`${command}`),
      },
    });
  });
});

it.each([
  ['report', 'Did you mean `vloc batch report`?'],
  ['histroy', 'Did you mean `vloc credits history`?'],
  ['get', 'Did you mean `vloc jobs get` or `vloc upload get`?'],
])('the name of a subcommand alone, %s, is answered with the whole command', async (word, advice) => {
  await expect(parseArguments([word], createTestIo().io)).rejects.toMatchObject({
    facts: { category: 'usage', message: `unknown command '${word}'`, advice },
  });
});

it('a part of a job is refused, as other values that `test/golden` records', async () => {
  const parsed = parseArguments(['localize', 'a.mp4', '--jobs', '1.5'], createTestIo().io);
  await expect(parsed).rejects.toThrow('invalid --jobs "1.5": expected a whole number from 1');
});

it.each(['version', '--version', '-V'])('%s prints only the version', async (word) => {
  const { io, stdout } = createTestIo();
  expect(await parseArguments([word], io)).toEqual({ type: 'answered', code: 0 });
  expect(stdout()).toMatch(/^\d+\.\d+\.\d+\n$/);
});

describe('a long help', () => {
  const headingsOf = (help: string) =>
    help.match(/^[A-Z][a-z ]+:$/gm)?.filter((each) => each !== 'Arguments:');

  it.each(['localize', 'recognize'])('of %s has all its options under headings, each once', async (name) => {
    const { io, stdout } = createTestIo();
    await parseArguments([name, '--help', 'all'], io);
    expect(headingsOf(stdout())).toEqual([...HELP_GROUPS, 'Examples:']);
  });

  it('lists options of its own command before those of every command', async () => {
    expect(headingsOf(await helpOf('jobs', 'list'))).toEqual([
      'Options:',
      'Output:',
      'General:',
      'Examples:',
    ]);
  });

  it.each([
    [['dub'], '--to'],
    [['upload', 'create'], '--size-bytes'],
  ])('of %j marks %s as required', async (words, flag) => {
    const rows = (await helpOf(...words)).split(/\n(?= {2}-)/);
    expect(rows.find((row) => row.startsWith(`  ${flag} `))).toMatch(/\(required\)/);
  });
});

describe('the help of a command with many options', () => {
  const printed = async (...argv: string[]) => {
    const { io, stdout } = createTestIo();
    await parseArguments(argv, io);
    return stdout();
  };
  const flagsIn = (help: string) => [...help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag);
  const optionsOf = async (load: () => Promise<Command>) => {
    const { options } = await load();
    return Object.keys({ ...options, ...GLOBAL_OPTIONS }).map(flagName);
  };

  it.each(LEAVES)(
    'vloc $words: lists at most what fits on a screen, and all where `all` is added',
    async (leaf) => {
      const all = await optionsOf(leaf.load);
      const short = flagsIn(await helpOf(...leaf.words));
      expect(flagsIn(await printed(...leaf.words, '--help', 'all')).toSorted()).toEqual(
        [...all, '--help'].toSorted(),
      );
      expect(short.length).toBeLessThanOrEqual(25);
      if (short.length < all.length) expect(short.length).toBeLessThanOrEqual(14);
    },
  );

  it('names the options of daily use of a localization, and how many more there are', async () => {
    const help = await helpOf('localize');
    const shown = flagsIn(help);
    for (const flag of ['--to', '--from', '--out', '--dry-run', '--max-credits', '--sample', '--profile'])
      expect(shown).toContain(flag);
    const { load } = LEAVES.find(({ words }) => words.join(' ') === 'localize') ?? expect.fail();
    const more = (await optionsOf(load)).length - (shown.length - 1);
    expect(help.replace(/\s+/g, ' ')).toContain(`--help all shows ${more} more options`);
  });

  it.each([
    [['localize', '--help=all']],
    [['localize', '-h', 'all']],
    [['localize', 'talk.mp4', '--to', 'es', '--help', 'all']],
    [['--profile', 'x', 'localize', '--help', 'all']],
    [['help', 'localize', 'all']],
  ])('is whole for %j', async (argv) => {
    expect(await printed(...argv)).toBe(await printed('localize', '--help', 'all'));
  });

  it.each([[[]], [['jobs']], [['jobs', 'list']]])(
    'is the same with `all` for a command or group with few: %j',
    async (words) => {
      expect(await printed(...words, '--help', 'all')).toBe(await printed(...words, '--help'));
      expect(await printed('help', ...words, 'all')).toBe(await printed('help', ...words));
    },
  );

  it('stays short for an operand that is named `all`', async () => {
    expect(await printed('localize', 'all', '--help')).toBe(await helpOf('localize'));
  });
});
