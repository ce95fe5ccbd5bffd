/** Parts of the build that make vloc start faster. */
import { RolldownMagicString } from 'rolldown';
import { parseSync, Visitor } from 'rolldown/utils';

/**
 * commander can start commands that are programs of their own. vloc has none, so this part of Node is loaded only when
 * commander calls it. commander imports three other parts whole, and a bundle would copy all their names.
 */
export const lightCommander = {
  name: 'light-commander',
  resolveId: (id, importer) =>
    /^node:(child_process|fs|path|process)$/.test(id) && importer?.includes('/commander/')
      ? `\0light:${id}`
      : null,
  load(id) {
    if (!id.startsWith('\0light:')) return null;
    const part = `process.getBuiltinModule('${id.slice('\0light:'.length)}')`;
    return id.endsWith('child_process')
      ? `export default { spawn: (...call) => ${part}.spawn(...call) };`
      : `export default ${part};`;
  },
};

/**
 * cli-table3 requires an old string-width. `src/cli/terminal/table.ts` measures texts with the current one, which takes 40 ms
 * to load, and passes on text in which each character is one cell wide.
 */
export const noOldStringWidth = {
  name: 'no-old-string-width',
  resolveId: (id, importer) => (id === 'string-width' && importer?.includes('cli-table3') ? `\0${id}` : null),
  load: (id) => (id === '\0string-width' ? 'module.exports = (text) => text.length;' : null),
};

/** Chunks whose functions most commands call. In other chunks most functions would be compiled without need. */
const LOADED_BY_MOST = ['vloc', 'start', 'main', 'calls', 'table'];

/**
 * Puts functions in parentheses. V8 compiles such a function together with its file, and Node's compile cache holds only
 * what was compiled with its file; every run compiles all other functions again. Source: v8.dev/blog/preparser,
 * "Skipping inner functions". Methods cannot be in parentheses, so they become functions that are assigned to the prototype.
 */
export const eagerFunctions = {
  name: 'eager-functions',
  renderChunk(code, { name }) {
    return LOADED_BY_MOST.includes(name) ? { code: wrapFunctions(code), map: null } : null;
  },
  generateBundle(_options, bundle) {
    const names = new Set(Object.values(bundle).map(({ name }) => name));
    const lost = LOADED_BY_MOST.filter((name) => !names.has(name));
    if (lost.length > 0) throw new Error(`no chunk is called ${lost.join(', ')}; see LOADED_BY_MOST`);
  },
};

function wrapFunctions(code) {
  const text = new RolldownMagicString(code);
  const { program, comments } = parseSync('chunk.js', code);
  // Node reads and checks the whole file in every run: `vloc credits` takes 1.03 × the CPU time with the comments.
  for (const { value, start, end } of comments) {
    // The names of packages, which a test of start-up reads.
    if (!value.startsWith(' node_modules/')) text.remove(start, end);
  }
  const wrap = ({ start, end }) => text.appendRight(start, '(').appendLeft(end, ')');
  new Visitor({
    // Parentheses say nothing to V8 about an async one.
    ArrowFunctionExpression: (node) => node.async || wrap(node),
    // Not a method, which does not begin with this word.
    FunctionExpression: (node) => code.startsWith('function', node.start) && wrap(node),
    VariableDeclaration: (node) => setMethods(text, code, node),
  }).visit(program);
  for (const { type, start, end, id } of program.body) {
    if (type !== 'FunctionDeclaration') continue;
    text.appendRight(start, `var ${id.name} = (`).appendLeft(end, ');\n');
    // At the beginning of the file they exist as early as they did when declared.
    text.move(start, end, 0);
  }
  return text.toString();
}

/** Moves the methods of `var Name = class {…};` after it: `Name.prototype.method = (function(…) {…});`. */
function setMethods(text, code, { declarations: [{ id, init }], end }) {
  if (init?.type !== 'ClassExpression') return;
  for (const { type, kind, key, value, start, end: methodEnd, ...method } of init.body.body) {
    if (type !== 'MethodDefinition' || kind !== 'method' || key.type !== 'Identifier') continue;
    if (method.static || method.computed || value.async || value.generator) continue;
    // Only a class body may contain these.
    if (/\bsuper\b|#/.test(code.slice(start, methodEnd))) continue;
    text.overwrite(start, value.start, `\n${id.name}.prototype.${key.name} = (function`);
    text.appendLeft(methodEnd, ');');
    text.move(start, methodEnd, end);
  }
}
