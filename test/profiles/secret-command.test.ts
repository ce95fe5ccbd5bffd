import { describe, expect, it } from 'vitest';
import { runSecretCommand, splitCommand } from '../../src/profiles/secret-command.ts';

const env = { PATH: process.env.PATH, VLOC_SECRET: 'canary', MINE: 'kept' };
const run = (command: string, options = {}) => runSecretCommand(command, { env, ...options });

describe('the words of a command', () => {
  it.each([
    ['pass show vloc', ['pass', 'show', 'vloc']],
    ['op read "op://a b/c"  -n', ['op', 'read', 'op://a b/c', '-n']],
    [`say 'it is' a"b c"d`, ['say', 'it is', 'ab cd']],
  ])('of %s need no shell', (command, words) => {
    expect(splitCommand(command)).toEqual(words);
  });

  it.each(['a | b', 'echo $HOME', 'A=1 b', 'ls *', 'cat ~/x', "it's", 'a && b'])(
    'of %s need one',
    (command) => {
      expect(splitCommand(command)).toBeNull();
    },
  );
});

describe('a command for a secret', () => {
  it.each(['printf abc', 'echo abc', "printf 'abc\\n'", 'echo abc | cat'])(
    'returns what it prints: %s',
    async (command) => {
      expect(await run(command)).toBe('abc');
    },
  );

  it('has the variables of the user, but none with a secret', async () => {
    expect(await run('echo "$MINE-$VLOC_SECRET-"')).toBe('kept--');
  });

  it.each([
    ['false', 'ended with exit code 1'],
    ['echo hidden; echo locked >&2; echo more >&2; exit 3', 'ended with exit code 3: locked'],
    ['kill -9 $$', 'ended with signal SIGKILL'],
    ['no-such-program-here', 'cannot be started'],
    ['true', 'printed nothing'],
    ['printf "a\\nb\\n"', 'more than one line'],
    ['head -c 100000 /dev/zero', 'printed too much'],
  ])('that fails reports how: %s', async (command, message) => {
    const error = await run(command).catch((reason) => reason);
    expect(error.facts).toMatchObject({ category: 'configuration', code: 'SECRET_COMMAND_FAILED' });
    expect(error.message).toContain(message);
    expect(error.message).not.toContain('hidden');
  });

  it('is ended if it takes too long, including what it started', async () => {
    // It ends when its output closes: a child that continued would delay this test beyond its time.
    await expect(run('sleep 60 | cat', { limitMs: 50 })).rejects.toThrow('did not end in 0.05 s');
  });

  it('is not waited for longer than it runs if it leaves a process behind', async () => {
    expect(await run('sleep 60 & echo abc', { limitMs: 20_000 })).toBe('abc');
  });

  it('is ended with the run', async () => {
    const controller = new AbortController();
    const reason = new Error('Ctrl-C');
    setImmediate(() => controller.abort(reason));
    await expect(run('sleep 20', { signal: controller.signal })).rejects.toBe(reason);
  });
});
