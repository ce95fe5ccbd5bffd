/** What a terminal shows after it has been written to: the few sequences that vloc uses, and no others. */
import stringWidth from 'string-width';

export interface VirtualScreen {
  write(text: string): void;
  /** As a person changes it: lines that became too wide are wrapped again, as VTE, kitty and tmux do. */
  resize(columns: number, rows: number): void;
  /** The rows that are seen, without blanks at their ends. */
  readonly rows: () => readonly string[];
  /** Rows that have left at the top. */
  readonly scrolled: () => readonly string[];
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what it reads
const SEQUENCE = /\u001b\[([?\d;]*)([A-Za-z])/y;

export function createVirtualScreen(columns: number, rows: number): VirtualScreen {
  let width = columns;
  let height = rows;
  /** All rows from the first on, those that have scrolled away among them. */
  let lines: string[] = [''];
  let top = 0;
  let row = 0;
  let column = 0;

  const lineFeed = () => {
    row += 1;
    while (lines.length <= row) lines.push('');
    top = Math.max(top, row - height + 1);
  };
  const put = (character: string) => {
    if (column + stringWidth(character) > width) {
      lineFeed();
      column = 0;
    }
    const line = lines[row] ?? '';
    lines[row] = line.padEnd(column).slice(0, column) + character + line.slice(column + 1);
    column += stringWidth(character);
  };
  const resize = (newColumns: number, newRows: number) => {
    const broken = lines.map((line) => breakLine(line.trimEnd(), newColumns));
    row = broken.slice(0, row).flat().length;
    lines = broken.flat();
    width = newColumns;
    height = newRows;
    top = Math.max(0, lines.length - height);
  };
  const keepLeft = () => {
    lines[row] = (lines[row] ?? '').slice(0, column);
  };
  const obey = (parameter: string, letter: string) => {
    const count = Number(parameter || '1');
    switch (`${letter}${letter === 'K' || letter === 'J' ? parameter : ''}`) {
      case 'A':
        row = Math.max(top, row - count);
        break;
      case 'B':
        row = Math.min(top + height - 1, row + count);
        break;
      case 'G':
        column = count - 1;
        break;
      case 'K2':
        lines[row] = '';
        break;
      case 'K':
        keepLeft();
        break;
      case 'J':
        keepLeft();
        lines = lines.slice(0, row + 1);
        break;
      case 't': {
        const [, newRows = height, newColumns = width] = parameter.split(';').map(Number);
        resize(newColumns, newRows);
        break;
      }
      // Colours, and modes that change nothing of what stands where.
      case 'm':
      case 'h':
      case 'l':
        break;
      default:
        throw new Error(`no terminal of ours knows ${parameter}${letter}`);
    }
    while (lines.length <= row) lines.push('');
  };

  return {
    write(text) {
      for (let at = 0; at < text.length; ) {
        SEQUENCE.lastIndex = at;
        const [sequence, parameter = '', letter = ''] = SEQUENCE.exec(text) ?? [];
        if (sequence !== undefined) {
          obey(parameter, letter);
          at += sequence.length;
          continue;
        }
        const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
        at += character.length;
        if (character === '\n') {
          lineFeed();
          column = 0;
        } else if (character === '\r') column = 0;
        else put(character);
      }
    },
    resize,
    rows: () => lines.slice(top, top + height).map((line) => line.trimEnd()),
    scrolled: () => lines.slice(0, top).map((line) => line.trimEnd()),
  };
}

function breakLine(line: string, columns: number): string[] {
  const parts: string[] = [];
  for (let at = 0; at < line.length; at += columns) parts.push(line.slice(at, at + columns));
  return parts.length === 0 ? [''] : parts;
}
