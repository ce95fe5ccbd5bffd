/** Draws a picture of a terminal from the output of a program. */
import { execFileSync } from 'node:child_process';
import xterm, { type IBufferCell } from '@xterm/headless';

const COLUMNS = 92;
/**
 * Progress is redrawn ten times per second, and a run of an hour writes less than this. Node's default of 1 MiB is
 * enough for only a few minutes.
 */
const MOST_BYTES = 256 * 1024 * 1024;
/** More rows than any run here writes. The picture ends with the last row that is not empty. */
const ROWS = 60;

/**
 * Runs a command line in a terminal and returns its output.
 * @param commandLine for sh; `script` of util-linux creates the terminal
 */
export function recordTerminal(commandLine: string, run: { cwd: string; env: NodeJS.ProcessEnv }): string {
  const command = `stty cols ${COLUMNS} rows ${ROWS}; ${commandLine}`;
  const env = { ...run.env, TERM: 'xterm-256color', FORCE_COLOR: '1' };
  return execFileSync('script', ['-qec', command, '/dev/null'], {
    cwd: run.cwd,
    env,
    encoding: 'utf8',
    maxBuffer: MOST_BYTES,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Part of a row with one style. */
interface Span {
  readonly column: number;
  readonly text: string;
  readonly style: string;
}

const COLOURS = ['#3b4252', '#e06c75', '#7fc98f', '#e5c07b', '#7aa2f7', '#c59bd8', '#56c2c9', '#d8dee9'];

function styleOf(cell: IBufferCell): string {
  const colour = cell.isFgPalette() ? COLOURS[cell.getFgColor() % COLOURS.length] : undefined;
  return [
    colour !== undefined && `fill="${colour}"`,
    cell.isBold() !== 0 && 'font-weight="bold"',
    cell.isDim() !== 0 && 'opacity="0.6"',
  ]
    .filter(Boolean)
    .join(' ');
}

/** Returns the rows that the terminal shows at the end. */
async function readScreen(written: string): Promise<Span[][]> {
  const terminal = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
  await new Promise<void>((done) => terminal.write(written, done));
  const { active } = terminal.buffer;
  const rows = Array.from({ length: active.length }, (_, row) => {
    const line = active.getLine(row);
    const spans: Span[] = [];
    for (let column = 0; column < COLUMNS; column += 1) {
      const cell = line?.getCell(column);
      if (cell === undefined || cell.getWidth() === 0) continue;
      const last = spans.at(-1);
      const style = styleOf(cell);
      const text = cell.getChars() || ' ';
      if (last?.style === style) spans.splice(-1, 1, { ...last, text: last.text + text });
      else spans.push({ column, text, style });
    }
    return spans;
  });
  terminal.dispose();
  const end = rows.findLastIndex((spans) => spans.some(({ text }) => text.trim() !== ''));
  return rows.slice(0, end + 1);
}

/** Sizes in pixels, for a 14-pixel monospaced font. */
const CELL = { width: 8.4, height: 20 } as const;
const EDGE = 16;

/** Draws the last screen of a recording as SVG. @param title alternative text; not escaped */
export async function drawTerminal(title: string, written: string): Promise<string> {
  const rows = await readScreen(written);
  const width = Math.ceil(COLUMNS * CELL.width + 2 * EDGE);
  const height = rows.length * CELL.height + 2 * EDGE;
  const texts = rows.flatMap((spans, row) =>
    spans
      .filter(({ text }) => text.trim() !== '')
      .map((span) => drawSpan(span, EDGE + (row + 0.75) * CELL.height)),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<title>${title}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="#171b22"/>`,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#d8dee9">`,
    ...texts,
    '</g>',
    '</svg>\n',
  ].join('\n');
}

function drawSpan(span: Span, y: number): string {
  const { style } = span;
  const text = span.text.trim();
  const column = span.column + span.text.length - span.text.trimStart().length;
  const x = (EDGE + column * CELL.width).toFixed(1);
  // Keeps columns aligned if the reader's font is wider or narrower.
  const length = (text.length * CELL.width).toFixed(1);
  // Browsers collapse other spaces.
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll(' ', '\u00a0');
  const space = style === '' ? '' : ' ';
  return `<text x="${x}" y="${y}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${space}${style}>${escaped}</text>`;
}
