/**
 * `npm run bench [NAME…]`: measures, prints its figures (bench/README.md has the main ones), and fails if a limit is
 * exceeded or a figure is physically impossible. `--short` measures small sizes once and ignores the limits.
 */
import { BENCHES } from './benches.ts';
import { figureRow, isPlausible, keepsLimit } from './figure.ts';

const SHORT = '--short';

const words = process.argv.slice(2);
const isShort = words.includes(SHORT);
const asked = words.filter((word) => word !== SHORT);
const unknown = asked.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0)
  throw new Error(`no bench "${unknown.join(', ')}"; there are ${Object.keys(BENCHES).join(', ')}`);

process.stdout.write('| figure | limit | today |\n| --- | --- | --- |\n');
for (const [name, { measure }] of Object.entries(BENCHES)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const figures = await measure(isShort);
  if (figures.length === 0) throw new Error(`the bench "${name}" measured nothing`);
  for (const figure of figures) {
    process.stdout.write(`${figureRow(figure)}\n`);
    if (!isPlausible(figure)) {
      const [least, most] = figure.plausible;
      process.stderr.write(
        `${name}: "${figure.name}" is ${figure.value}, but only ${least} to ${most} is possible: the bench does not measure it\n`,
      );
      process.exitCode = 1;
    } else if (!isShort && !keepsLimit(figure)) process.exitCode = 1;
  }
}
