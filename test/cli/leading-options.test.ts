import { describe, expect, it } from 'vitest';
import { moveLeadingOptions } from '../../src/cli/leading-options.ts';

const move = (line: string) => moveLeadingOptions(line.split(' ')).join(' ');

describe('options of every command', () => {
  it.each([
    ['--profile x credits', 'credits --profile x'],
    ['-o json jobs list', 'jobs list -o json'],
    ['jobs -o json list --all', 'jobs list -o json --all'],
    ['-q batch -o json status out', 'batch status -q -o json out'],
    [
      '--base-url=https://a.example/v1 dub a.srt --to es',
      'dub --base-url=https://a.example/v1 a.srt --to es',
    ],
    ['-qvo json credits', 'credits -qvo json'],
    ['-ojson credits', 'credits -ojson'],
    ['--profile jobs credits', 'credits --profile jobs'],
    ['-q serve -o json keys list', 'serve keys list -q -o json'],
    ['upload -o json list', 'upload list -o json'],
  ])('may come before its name: %s', (given, moved) => {
    expect(move(given)).toBe(moved);
  });

  it.each([
    'jobs list -o json',
    'upload -o json talk.mp4',
    '--nope credits',
    '--to es localize a.mp4',
    '-x credits',
    'localize -- -o',
    '--help',
  ])('stay where they are, and so does everything else: %s', (given) => {
    expect(move(given)).toBe(given);
  });

  it.each([
    ['-o json help exit-codes', 'help exit-codes'],
    ['--profile x --version', '--version'],
    ['-q batch', 'batch'],
    ['batch -o json', 'batch'],
  ])('change nothing for commands that only print information: %s', (given, moved) => {
    expect(move(given)).toBe(moved);
  });

  it('need a command', () => {
    expect(() => move('--profile x')).toThrow('a command is missing after --profile x');
  });
});
