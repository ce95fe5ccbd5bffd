/** Rules about files: their size, forbidden calls, and the folders of tests. */
import { basename, dirname } from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';
import { countLines, listFiles, type Module, readModules } from './modules.ts';

/** A file that does not fit on a few screens has more than one subject. */
const LONGEST = 400;

/** Folders of tests that cover several packages. */
const WIDE_FOLDERS = [
  'bench',
  'cluster',
  'conformance',
  'docs',
  'e2e',
  'golden',
  'hosted',
  'quality',
  'release',
  'structure',
];
/** The same within a package. */
const WIDE_PATHS = ['test/service/media/', 'test/service/traps/'];
/** Tests of a behaviour that several files of one package share. All other tests mirror the file that they test. */
const WIDE_FILES = [
  'test/client/transport/canonical-vectors.test.ts',
  'test/client/transport/foreign-answers.test.ts',
  'test/client/transport/network.test.ts',
  'test/client/transport/retries.test.ts',
  'test/client/transport/tls.test.ts',
  'test/client/transport/wrong-clock.test.ts',
  'test/engines/media/traps.test.ts',
  'test/service/crash.test.ts',
  'test/service/full-disk.test.ts',
  'test/service/jobs.test.ts',
  'test/service/limits.test.ts',
];

const sources = readModules('src');
const tests = readModules('test').filter(({ path }) => path.endsWith('.test.ts'));

/**
 * `srt.test.ts` tests `srt.ts`, and so do `srt.bombs.test.ts` and `srt-bombs.test.ts`, if one file would be too long;
 * `run/run.test.ts` tests the whole folder `run`.
 */
function isMirror(path: string): boolean {
  const folder = dirname(path).replace(/^test/, 'src');
  const name = basename(path, '.test.ts');
  const subjects = sources.filter((source) => dirname(source.path) === folder);
  if (subjects.length > 0 && basename(folder) === name) return true;
  return subjects.some((source) => {
    const subject = basename(source.path, '.ts');
    return name === subject || name.startsWith(`${subject}.`) || name.startsWith(`${subject}-`);
  });
}

/** Returns the positions of `object.property` in a file, as `path:line`. */
function findMembers(
  { path, text }: Module,
  isWanted: (object: string, property: string) => boolean,
): string[] {
  const found: string[] = [];
  const visitor = new Visitor({
    MemberExpression(node) {
      const { object, property } = node;
      if (object.type !== 'Identifier' || property.type !== 'Identifier') return;
      if (isWanted(object.name, property.name)) {
        found.push(`${path}:${text.slice(0, node.start).split('\n').length}`);
      }
    },
  });
  visitor.visit(parseSync(path, text).program);
  return found;
}

describe('source files', () => {
  it(`have at most ${LONGEST} lines, in tests, benches, generators and style sheets too`, () => {
    const paths = ['src', 'test', 'bench', 'docs', 'release'].flatMap(listFiles);
    const long = paths.filter((path) => /\.(ts|js|mjs|css|sh|zsh)$/.test(path) && countLines(path) > LONGEST);
    expect(long).toEqual([]);
  });

  it('write to the console only from the command line', () => {
    const places = sources
      .filter(({ folder }) => folder !== 'cli')
      .flatMap((module) => findMembers(module, (object) => object === 'console'));
    expect(places).toEqual([]);
  });

  it('end the process only from the command line', () => {
    const places = sources
      .filter(({ folder }) => folder !== 'cli')
      .flatMap((module) =>
        findMembers(
          module,
          (object, property) => object === 'process' && /^(exit|abort|reallyExit)$/.test(property),
        ),
      );
    expect(places).toEqual([]);
  });
});

describe('test files', () => {
  it('mirror the file that they test, or lie in a folder for wider tests', () => {
    const homeless = tests.filter(
      ({ path, folder }) =>
        !WIDE_FOLDERS.includes(folder) &&
        !WIDE_PATHS.some((wide) => path.startsWith(wide)) &&
        !WIDE_FILES.includes(path) &&
        !isMirror(path),
    );
    expect(homeless.map(({ path }) => path)).toEqual([]);
    expect(WIDE_FILES.filter((path) => !tests.some((test) => test.path === path))).toEqual([]);
  });

  it('replace no module of ours', () => {
    const mocked = tests.filter(({ text }) =>
      /\bvi\s*\.\s*(do)?[mM]ock\(\s*(import\(\s*)?['"`]\./.test(text),
    );
    expect(mocked.map(({ path }) => path)).toEqual([]);
  });

  it('are neither focused nor put aside', () => {
    const places = tests.flatMap((module) =>
      findMembers(
        module,
        (object, property) =>
          /^(it|test|describe)$/.test(object) && /^(only|skip|todo|fails)$/.test(property),
      ),
    );
    expect(places).toEqual([]);
  });

  it('assert something in every file', () => {
    const silent = tests.filter(({ text }) => !/\bexpect\(|\bassert\(/.test(text));
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it('are named so that the suite runs them', () => {
    const files = listFiles('test').filter((path) => /(\.spec\.|_test\.|\.test\.[cm]?jsx?$)/.test(path));
    expect(files).toEqual([]);
  });
});

it('folders are made level by level: the recursive mkdir of Node never ends below /proc', () => {
  const recursive = /\bmkdir(?:Sync)?\([^;]*\brecursive: true/;
  const others = sources.filter(({ path, text }) => !path.startsWith('src/disk/') && recursive.test(text));
  expect(others.map(({ path }) => path)).toEqual([]);
});
