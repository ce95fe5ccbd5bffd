import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Caller,
  completeCommands,
  continueCommand,
  goOnCommand,
  inFolder,
  quoteForShell,
  redoCommand,
  sameCommand,
  writeCommand,
} from '../../../src/commands/context/printed-command.ts';

function callerOf(given: Partial<Caller & { commandLine: readonly string[] }> = {}) {
  return { io: { env: {}, platform: 'linux' } as const, service: {}, commandLine: [], ...given };
}

const running = (...commandLine: string[]) => callerOf({ commandLine });
const PROD = { profile: 'prod' };

it('quotes arguments so that a shell restores them unchanged', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 20, maxLength: 60 }), (argv) => {
      const words = argv.map((word) => word.replaceAll('\0', ''));
      const line = `printf '%s\\0' ${words.map((word) => quoteForShell(word, 'linux')).join(' ')}`;
      expect(execFileSync('bash', ['-c', line]).toString('utf8').split('\0').slice(0, -1)).toEqual(words);
    }),
    { numRuns: 8 }, // each starts a shell
  );
});

it('writes control characters so that they do not act on the terminal, and bash restores them', () => {
  const name = "it's\n\\1\u001b[2J\u0085.mp4";
  const written = quoteForShell(name, 'linux');
  expect(written).toBe("$'it\\'s\\n\\\\1\\033[2J\\302\\205.mp4'");
  expect(execFileSync('bash', ['-c', `printf %s ${written}`]).toString('utf8')).toBe(name);
});

it.each([
  ['talk.mp4', 'talk.mp4'],
  ["it's here", "'it''s here'"],
  ['es,ca', "'es,ca'"],
  ['C:\\media\\talk.mp4', 'C:\\media\\talk.mp4'],
  ['--jobs', '--jobs'],
  ['-o.x', "'-o.x'"],
  ['$HOME', "'$HOME'"],
  ['', "''"],
])('on Windows %s is written for PowerShell: %s', (argument, written) => {
  expect(quoteForShell(argument, 'win32')).toBe(written);
});

describe('a command that is printed', () => {
  it('names the tool as the shell can find it: through npx if npm started it', () => {
    const io = { env: { npm_command: 'run' }, platform: 'linux' } as const;
    expect(writeCommand(callerOf({ io }), ['jobs', 'get', 'loc_1'])).toBe('npx vloc jobs get loc_1');
  });

  it.each([
    [PROD, 'vloc jobs get loc_1 --profile prod'],
    [{ baseUrl: 'https://a.example/v1' }, 'vloc jobs get loc_1 --base-url https://a.example/v1'],
    [{}, 'vloc jobs get loc_1'],
  ])('names the service that flags chose: %j', (service, written) => {
    expect(writeCommand(callerOf({ service }), ['jobs', 'get', 'loc_1'])).toBe(written);
  });

  it.each(['engines install', 'serve keys list', 'profile use prod', 'jobs list --help'])(
    'names none if it does not matter: %s',
    (line) => {
      expect(writeCommand(callerOf({ service: PROD }), line.split(' '))).toBe(`vloc ${line}`);
    },
  );

  it.each([
    ['engines test', 'vloc engines test --engines my.json'],
    ['serve --port 1', 'vloc serve --port 1 --engines my.json'],
    ['jobs list', 'vloc jobs list --profile local --engines my.json'],
    ['engines list --engines other.json', 'vloc engines list --engines other.json'],
    ['serve keys list', 'vloc serve keys list'],
    ['profile use prod', 'vloc profile use prod'],
    ['engines add --help', 'vloc engines add --help'],
  ])('names the engines that a flag chose, if they matter: %s', (line, written) => {
    const service = { profile: 'local', engines: 'my.json' };
    expect(writeCommand(callerOf({ service }), line.split(' '))).toBe(written);
  });

  it('has flags before `--`, after which they would be operands', () => {
    const caller = { ...running('dub', '--to', 'es', '--', '--fresh'), service: PROD };
    expect(sameCommand(caller)).toBe('vloc dub --to es --profile prod -- --fresh');
    expect(redoCommand(caller)).toBe('vloc dub --to es --fresh --clobber --profile prod -- --fresh');
  });

  it('changes the folder in the syntax of the shell', () => {
    const windows = callerOf({ io: { env: {}, platform: 'win32' } });
    expect(inFolder(callerOf(), '/my media', 'vloc x')).toBe("cd '/my media' && vloc x");
    expect(inFolder(windows, 'C:\\my media', 'vloc x')).toBe("cd 'C:\\my media'; vloc x");
  });
});

describe('the command that continues', () => {
  it('never starts over, which would be paid twice, and fetches the results', () => {
    expect(sameCommand(running('localize', 'my talk.mp4', '--fresh', '--detach'))).toBe(
      "vloc localize 'my talk.mp4'",
    );
  });

  it('does not wait either, if the run did not and had more to request', () => {
    const caller = running('localize', 'a.mp4', '--fresh', '--detach', '-o', 'id');
    expect(continueCommand(caller, true)).toBe('vloc localize a.mp4 --detach -o id');
    expect(continueCommand(caller)).toBe('vloc localize a.mp4 -o id');
  });

  it('keeps the flags of the service at their place, before the command too', () => {
    const caller = { ...running('--profile', 'prod', 'dub', 'a.srt'), service: PROD };
    expect(sameCommand(caller)).toBe('vloc --profile prod dub a.srt');
  });

  it('is for the service of this run, also if it was recorded for another', () => {
    const caller = { ...running('dub', 'a.srt', '--profile=old', '--to', 'es'), service: PROD };
    expect(sameCommand(caller)).toBe('vloc dub a.srt --to es --profile prod');
  });
});

it('the command that starts over makes a new job and replaces existing results', () => {
  expect(redoCommand(running('localize', 'my talk.mp4', '--to', 'es'))).toBe(
    "vloc localize 'my talk.mp4' --to es --fresh --clobber",
  );
  expect(redoCommand(running('localize', 'a.mp4', '--fresh', '--clobber'))).toBe(
    'vloc localize a.mp4 --fresh --clobber',
  );
  expect(redoCommand(running('localize', 'a.mp4', '--skip-existing'))).toBe(
    'vloc localize a.mp4 --fresh --clobber',
  );
});

describe('the command after a gate', () => {
  it('is the same one, from the subtitles', () => {
    expect(goOnCommand(running('localize', 'my talk.mp4', '--stop-after', 'translate', '--to', 'es'))).toBe(
      "vloc localize 'my talk.mp4' --to es --from-subtitles",
    );
    expect(
      goOnCommand(running('localize', 'a.mp4', '--to=es', '--stop-after=recognize', '--from-subtitles')),
    ).toBe('vloc localize a.mp4 --to=es --from-subtitles');
  });

  it('does not repeat what was done before the gate', () => {
    expect(goOnCommand(running('localize', 'a.mp4', '--fresh', '--to', 'es'))).toBe(
      'vloc localize a.mp4 --to es --from-subtitles',
    );
  });
});

describe('commands in a text', () => {
  const complete = (text: string) => completeCommands(text, callerOf({ service: PROD }));

  it.each([
    [
      'Check it with `vloc doctor`, then run it again.',
      'Check it with `vloc doctor --profile prod`, then run it again.',
    ],
    [
      'Try `vloc jobs get a` or `vloc upload get b`.',
      'Try `vloc jobs get a --profile prod` or `vloc upload get b --profile prod`.',
    ],
    ['vloc engines install', 'vloc engines install'],
    ['See `vloc jobs wait --help`.', 'See `vloc jobs wait --help`.'],
    ['Already whole: `vloc doctor --base-url x`', 'Already whole: `vloc doctor --base-url x`'],
    ['another vloc works in /x', 'another vloc works in /x'],
    ['See `vloc engines list`.', 'See `vloc engines list`.'],
  ])('%s', (text, whole) => {
    expect(complete(text)).toBe(whole);
  });
});
