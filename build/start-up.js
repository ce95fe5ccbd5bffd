/** Parts of the build that make vloc start faster. */

/**
 * commander can start commands that are programs of their own. vloc has none, so this part of Node, a twentieth of the start
 * of a command, is loaded only if commander calls it.
 */
export const lightCommander = {
  name: 'light-commander',
  resolveId: (id, importer) =>
    id === 'node:child_process' && importer?.includes('/commander/') ? `\0${id}` : null,
  load: (id) =>
    id === '\0node:child_process'
      ? `export default { spawn: (...call) => process.getBuiltinModule('child_process').spawn(...call) };`
      : null,
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
