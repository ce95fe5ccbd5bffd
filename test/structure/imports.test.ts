/** Rules about imports that no linter here has: their direction between rooms, and what is loaded only when it is needed. */
import { describe, expect, it } from 'vitest';
import { readModules } from './modules.ts';

/** The rooms of `src`. A file may import from rooms below its own. */
const ROOMS = [
  'cli',
  'commands',
  'profiles',
  'batch',
  'service',
  'engines',
  'media',
  'client',
  'protocol',
  'base',
];

/**
 * Rooms that do not know each other although one is below the other: one mistake in both ends of the protocol would pass
 * unnoticed, and the client's side works with any service.
 */
const APART: readonly (readonly [string, string])[] = [
  ['profiles', 'service'],
  ['batch', 'service'],
  ['batch', 'engines'],
  ['service', 'client'],
  ['engines', 'client'],
  ['media', 'client'],
];

const modules = readModules('src');
const edges = modules.flatMap((from) => from.imports.map((found) => ({ from, ...found })));
const local = edges.flatMap(({ target, ...edge }) => (target === null ? [] : [{ ...edge, target }]));
const show = (found: readonly { from: { path: string }; specifier: string }[]) =>
  found.map(({ from, specifier }) => `${from.path} imports ${specifier}`);

describe('imports between folders', () => {
  it('go down only', () => {
    const wrong = local.filter(({ from, target }) => {
      const to = target.split('/')[1] ?? '';
      if (!target.startsWith('src/') || to === from.folder) return false;
      const isApart = APART.some(([one, other]) => one === from.folder && other === to);
      return isApart || ROOMS.indexOf(to) < ROOMS.indexOf(from.folder);
    });
    expect(show(wrong)).toEqual([]);
  });

  it('go down only between the folders of a room, too', () => {
    // A file that lies in the room itself is a floor of its own.
    const floorOf = (path: string) => path.split('/').slice(0, 3).join('/');
    const inside = local.filter(
      ({ from, target }) =>
        target.startsWith(`src/${from.folder}/`) && floorOf(target) !== floorOf(from.path),
    );
    const below = Map.groupBy(inside, ({ from }) => floorOf(from.path));
    const reaches = (start: string, wanted: string, seen = new Set<string>()): boolean =>
      (below.get(start) ?? []).some(({ target }) => {
        const next = floorOf(target);
        if (next === wanted) return true;
        return !seen.has(next) && reaches(next, wanted, seen.add(next));
      });
    expect(show(inside.filter(({ from, target }) => reaches(floorOf(target), floorOf(from.path))))).toEqual(
      [],
    );
  });

  it('never leave the sources, except for the package file', () => {
    const outside = local.filter(({ target }) => !target.startsWith('src/') && target !== 'package.json');
    expect(show(outside)).toEqual([]);
  });

  it('start programs in one place, but for what a start of its own costs much less', () => {
    const starts = modules.filter(({ text }) => /'(execa|(node:)?child_process)'/.test(text));
    const allowed = [
      'src/cli/update-notice.ts',
      'src/commands/tool/completion-values.ts',
      'src/media/programs/start.ts',
      'src/profiles/keychain.ts',
    ];
    expect(starts.map(({ path }) => path).filter((path) => !allowed.includes(path))).toEqual([]);
  });

  it('let the service import only the front of the engines', () => {
    const behind = local.filter(
      ({ from, target }) => from.folder === 'service' && /^src\/engines\/.+\//.test(target),
    );
    expect(show(behind)).toEqual([]);
  });

  it.each(['account', 'batch', 'jobs', 'profiles', 'uploads', 'webhooks'])(
    'let commands of %s, which work with a service elsewhere, start without the media work and the service',
    (group) => {
      // The schema of engines.json, of which settings have their names, does no work.
      const isWork = (path: string) => /^src\/(engines\/(?!config\.ts)|media\/|service\/)/.test(path);
      const eager = local.filter(({ manner }) => manner === 'eager');
      const reached = new Set(
        modules
          .map(({ path }) => path)
          // The build loads what the table of completions is made from.
          .filter(
            (path) =>
              /^src\/cli\/(?!completion-table)/.test(path) || path.startsWith(`src/commands/${group}/`),
          ),
      );
      for (const path of reached)
        for (const { from, target } of eager) if (from.path === path && !isWork(target)) reached.add(target);
      expect(show(eager.filter(({ from, target }) => reached.has(from.path) && isWork(target)))).toEqual([]);
    },
  );
});

it('commands do not ask for the output form by its name, which only its own file knows', () => {
  const asking = modules.filter(
    ({ path, text }) =>
      /^src\/(cli|commands)\//.test(path) && /\boutput [!=]== '|switch \([\w.]*output\)/.test(text),
  );
  expect(asking.map(({ path }) => path)).toEqual([]);
});

describe('the conformance suite', () => {
  it('uses nothing of the product, so that one mistake cannot pass on both sides', () => {
    const suite = readModules('test/conformance').filter(({ path }) => !/\/harness\/|\.test\.ts$/.test(path));
    const foreign = suite.flatMap(({ path, imports }) =>
      imports
        .filter(
          ({ specifier, target }) =>
            !(target ?? specifier).match(/^(node:|test\/conformance\/(?!harness\/))/),
        )
        .map(({ specifier }) => `${path} imports ${specifier}`),
    );
    expect(suite.length).toBeGreaterThan(50);
    expect(foreign).toEqual([]);
  });
});
