/** Reading what a child writes without letting it fill the memory. */
import type { Readable } from 'node:stream';

/** A longer line is passed on in pieces: no program we run writes such lines on purpose. */
const MAX_LINE = 1024 * 1024;

/** Calls `onLine` with each line of a stream, without its line break. */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  const decoder = new TextDecoder();
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/[\r\n]+/);
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) {
      lines.push(rest);
      rest = '';
    }
    for (const line of lines) if (line !== '') onLine(line);
  });
  stream.on('end', () => {
    if (rest !== '') onLine(rest);
  });
}

/** Collects a stream up to `maxBytes`; calls `onOverflow` once when there is more, and drops the rest. */
export function collect(stream: Readable, maxBytes: number, onOverflow: () => void): () => Buffer {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    const before = size;
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
    else if (before <= maxBytes) onOverflow();
  });
  return () => Buffer.concat(chunks);
}

/** Keeps the last lines, enough to show why a program failed. */
export function keepLastLines(count: number): { add: (line: string) => void; text: () => string } {
  const lines: string[] = [];
  return {
    add(line) {
      lines.push(line.slice(0, 500));
      if (lines.length > count) lines.shift();
    },
    text: () => lines.join('\n'),
  };
}
