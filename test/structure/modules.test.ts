import { describe, expect, it } from 'vitest';
import { findCycle, findImports, packageOf } from './modules.ts';

const read = (text: string) =>
  findImports('src/client/a.ts', text).map(({ specifier, manner }) => `${manner} ${specifier}`);

describe('the reader of imports', () => {
  it.each([
    ["import './b.ts'", 'eager ./b.ts'],
    ["import { b } from './b.ts'", 'eager ./b.ts'],
    ["import { type B, b } from './b.ts'", 'eager ./b.ts'],
    ["import type { B } from './b.ts'", 'type ./b.ts'],
    ["import { type B } from './b.ts'", 'type ./b.ts'],
    ["export * from './b.ts'", 'eager ./b.ts'],
    ["export { b } from './b.ts'", 'eager ./b.ts'],
    ["export type { B } from './b.ts'", 'type ./b.ts'],
    ["await import('./b.ts')", 'lazy ./b.ts'],
  ])('reads %s', (text, expected) => {
    expect(read(text)).toEqual([expected]);
  });

  it('is not confused by comments and strings', () => {
    expect(read("// import './b.ts'\nconst text = `import './c.ts'`;")).toEqual([]);
  });

  it('resolves relative imports and does not change others', () => {
    const [file, built, plain, scoped] = findImports(
      'src/client/a.ts',
      "import '../protocol/b.ts'; import 'node:fs'; import 'undici/types'; import '@hono/node-server/x';",
    );
    expect(file?.target).toBe('src/protocol/b.ts');
    expect([built, plain, scoped].map((found) => found?.target)).toEqual([null, null, null]);
    expect([file, built, plain, scoped].map((found) => found && packageOf(found))).toEqual([
      null,
      null,
      'undici',
      '@hono/node-server',
    ]);
  });

  it('refuses a file that is not TypeScript', () => {
    expect(() => read('import {')).toThrow('src/client/a.ts cannot be parsed');
  });
});

describe('the search for cycles', () => {
  const file = (path: string, text: string) => ({ path, imports: findImports(path, text) });

  it('finds a ring, and names it in order', () => {
    const ring = [
      file('src/x.ts', "import './a.ts'"),
      file('src/a.ts', "import './b.ts'"),
      file('src/b.ts', "export type { A } from './a.ts'"),
    ];
    expect(findCycle(ring)).toEqual(['src/a.ts', 'src/b.ts', 'src/a.ts']);
  });

  it('finds none if two files share a third', () => {
    const tree = [
      file('src/a.ts', "import './b.ts'; import './c.ts'"),
      file('src/b.ts', "import './c.ts'"),
      file('src/c.ts', ''),
    ];
    expect(findCycle(tree)).toBeNull();
  });
});
